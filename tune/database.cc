// The rollback journal keeps the whole file in one piece whenever nobody writes, so that it may be
// copied, and it works on file systems of a network. A process that dies leaves its journal, which
// the next one rolls back ("Atomic Commit In SQLite", sqlite.org).
#include "tenon/tune/database.h"

#include <sqlite3.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::tune {
namespace {

constexpr int kPatienceMs = 60'000;

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(const Database& database, sqlite3_stmt* statement)
    : database_(&database), statement_(statement) {}

Statement& Statement::Bind(int place, const std::string& text) {
  const int code = sqlite3_bind_text64(statement_.get(), place, text.data(), text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) database_->Fail(code);
  return *this;
}
Statement& Statement::Bind(int place, std::int64_t number) {
  const int code = sqlite3_bind_int64(statement_.get(), place, number);
  if (code != SQLITE_OK) database_->Fail(code);
  return *this;
}
Statement& Statement::Bind(int place, double number) {
  const int code = sqlite3_bind_double(statement_.get(), place, number);
  if (code != SQLITE_OK) database_->Fail(code);
  return *this;
}

bool Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    database_->Fail(code);
  }
  return false;
}

void Statement::Run() {
  while (Step()) {
  }
  sqlite3_reset(statement_.get());
}

std::string Statement::Text(int column) const {
  const auto* text = sqlite3_column_text(statement_.get(), column);
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text), bytes);
}
std::int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::Real(int column) const { return sqlite3_column_double(statement_.get(), column); }

void Database::Close::operator()(sqlite3* file) const { sqlite3_close_v2(file); }

Database::Database(const std::string& path, Access access) : path_(path) {
  const int flags =
      access == Access::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
  sqlite3* file = nullptr;
  // A file that may not be written is opened for reading by the same flags.
  const int code = sqlite3_open_v2(path.c_str(), &file, flags, nullptr);
  file_.reset(file);
  if (code != SQLITE_OK) Fail(code);
  sqlite3_extended_result_codes(file, 1);
  sqlite3_busy_timeout(file, kPatienceMs);
  // Text is not trusted to be SQL of ours.
  sqlite3_db_config(file, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(file, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  if (access == Access::kWrite) Run("PRAGMA synchronous = FULL");
}

Statement Database::Prepare(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(file_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) Fail(code);
  return {*this, statement};
}

std::int64_t Database::Number(const std::string& sql) const {
  Statement statement = Prepare(sql);
  return statement.Step() ? statement.Integer(0) : 0;
}

std::int64_t Database::Changes() const { return sqlite3_changes64(file_.get()); }

void Database::Fail(int code) const {
  const std::string reason = file_ ? sqlite3_errmsg(file_.get()) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw DataLoss(
          StrCat(path_, " is damaged, or no file of records: ", reason, "; it is left as it is"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(absl::StatusCode::kResourceExhausted,
                  StrCat(path_, " is kept by other processes: ", reason));
    case SQLITE_ERROR:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      throw DataLoss(StrCat(path_, " is no file of records: ", reason));
    default:
      throw NotFound(StrCat(path_, " cannot be opened or written: ", reason));
  }
}

Transaction::Transaction(const Database& database) : database_(database) {
  database_.Run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (done_) return;
  try {
    database_.Run("ROLLBACK");
  } catch (const Error&) {
    // It was rolled back already, by the error that ends it.
  }
}

void Transaction::Commit() {
  database_.Run("COMMIT");
  done_ = true;
}

}  // namespace tenon::tune
