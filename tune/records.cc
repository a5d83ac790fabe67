#include "tenon/tune/records.h"

#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>

#include "tenon/jit/object/object_key.h"
#include "tenon/strategies/onednn/adapter.h"
#include "tenon/support/error.h"
#include "tenon/support/hash.h"
#include "tenon/support/strings.h"

namespace tenon::tune {
namespace {

constexpr std::int64_t kApplication = 0x546e6f6e;  // "Tnon"
constexpr std::int64_t kVersion = 3;

// With row numbers: for tables without, quick_check of SQLite 3.40 complains of NULL where none is.
constexpr const char* kSchema[] = {
    "CREATE TABLE records ("
    " content TEXT NOT NULL, target TEXT NOT NULL, threads INTEGER NOT NULL, choice TEXT NOT NULL,"
    " over TEXT NOT NULL, scope TEXT NOT NULL CHECK (scope IN ('kernel', 'model', 'whole')),"
    " ratio REAL NOT NULL, noise REAL NOT NULL, rounds INTEGER NOT NULL,"
    " least_s REAL NOT NULL, median_s REAL NOT NULL,"
    " default_least_s REAL NOT NULL, default_median_s REAL NOT NULL,"
    " versions TEXT NOT NULL, date TEXT NOT NULL, run TEXT NOT NULL,"
    " shapes TEXT NOT NULL DEFAULT '', floor_s REAL NOT NULL DEFAULT 0,"
    " PRIMARY KEY (content, target, threads, choice, date, scope, run)) STRICT",
    "CREATE TABLE contents (content TEXT NOT NULL PRIMARY KEY, text TEXT NOT NULL) STRICT"};

// Those of the key first.
constexpr const char* kColumns =
    "content, target, threads, choice, date, scope, run, over, ratio, noise, rounds, least_s, "
    "median_s, default_least_s, default_median_s, versions, shapes, floor_s";

// Columns that came with later versions, and what records of earlier ones have in their place.
struct LaterColumn {
  std::int64_t version;
  const char* name;
  const char* definition;
  const char* value;
};
constexpr LaterColumn kLaterColumns[] = {{2, "shapes", "TEXT NOT NULL DEFAULT ''", "''"},
                                         {3, "floor_s", "REAL NOT NULL DEFAULT 0", "0.0"}};

bool IsOurs(const Database& database) {
  return database.Number("PRAGMA application_id") == kApplication;
}

bool IsEmpty(const Database& database) {
  return database.Number("SELECT count(*) FROM sqlite_schema") == 0;
}

void MakeTables(const Database& database) {
  Transaction transaction(database);
  if (IsEmpty(database)) {  // nobody else was first
    for (const char* statement : kSchema) database.Run(statement);
    database.Run(StrCat("PRAGMA application_id = ", kApplication));
    database.Run(StrCat("PRAGMA user_version = ", kVersion));
  }
  transaction.Commit();
}

std::int64_t VersionOf(const Database& database) { return database.Number("PRAGMA user_version"); }

void AddLaterColumns(const Database& database) {
  Transaction transaction(database);
  const std::int64_t version = VersionOf(database);  // somebody else may have been first
  for (const LaterColumn& column : kLaterColumns) {
    if (column.version > version)
      database.Run(StrCat("ALTER TABLE records ADD COLUMN ", column.name, " ", column.definition));
  }
  database.Run(StrCat("PRAGMA user_version = ", kVersion));
  transaction.Commit();
}

// kColumns, with values in place of those that an earlier version has not.
std::string ColumnsOf(const Database& database) {
  std::string columns = kColumns;
  const std::int64_t version = VersionOf(database);
  for (const LaterColumn& column : kLaterColumns) {
    if (column.version > version)
      columns.replace(columns.find(column.name), std::strlen(column.name), column.value);
  }
  return columns;
}

// A view that stands in the place of a table may have rows without end.
void RequireTables(const Database& database) {
  if (database.Number("SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'trigger')") > 0)
    throw DataLoss(StrCat(database.path(), " has views or triggers, which no file of records has"));
}

void RequireSound(const Database& database) {
  Statement check = database.Prepare("PRAGMA quick_check(1)");
  const std::string answer = check.Step() ? check.Text(0) : "no answer";
  if (answer != "ok")
    throw DataLoss(StrCat(database.path(), " is damaged: ", answer, "; it is left as it is"));
}

Scope ScopeOf(const std::string& text) {
  for (const Scope scope : {Scope::kModel, Scope::kWhole}) {
    if (text == ToString(scope)) return scope;
  }
  return Scope::kKernel;
}

Record RecordOf(const Statement& row) {
  Record record;
  record.content = row.Text(0);
  record.target = row.Text(1);
  record.threads = row.Integer(2);
  record.choice = row.Text(3);
  record.date = row.Text(4);
  record.scope = ScopeOf(row.Text(5));
  record.run = row.Text(6);
  record.over = row.Text(7);
  record.ratio = row.Real(8);
  record.noise = row.Real(9);
  record.rounds = row.Integer(10);
  record.least_s = row.Real(11);
  record.median_s = row.Real(12);
  record.default_least_s = row.Real(13);
  record.default_median_s = row.Real(14);
  record.versions = row.Text(15);
  record.shapes = row.Text(16);
  record.floor_s = row.Real(17);
  return record;
}

Statement& BindKey(const Record& record, Statement* statement) {
  return statement->Bind(1, record.content)
      .Bind(2, record.target)
      .Bind(3, record.threads)
      .Bind(4, record.choice)
      .Bind(5, record.date)
      .Bind(6, std::string(ToString(record.scope)))
      .Bind(7, record.run);
}

void Insert(const Database& database, const std::vector<Record>& records) {
  Statement insert = database.Prepare(StrCat("INSERT OR IGNORE INTO records (", kColumns,
                                             ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                                             "?, ?, ?, ?)"));
  for (const Record& record : records) {
    BindKey(record, &insert)
        .Bind(8, record.over)
        .Bind(9, record.ratio)
        .Bind(10, record.noise)
        .Bind(11, record.rounds)
        .Bind(12, record.least_s)
        .Bind(13, record.median_s)
        .Bind(14, record.default_least_s)
        .Bind(15, record.default_median_s)
        .Bind(16, record.versions)
        .Bind(17, record.shapes)
        .Bind(18, record.floor_s)
        .Run();
  }
}

void InsertText(const Database& database, const std::string& content, const std::string& text) {
  database.Prepare("INSERT OR IGNORE INTO contents (content, text) VALUES (?, ?)")
      .Bind(1, content)
      .Bind(2, text)
      .Run();
}

std::vector<Record> Select(const Database& database, const RecordFilter& filter) {
  std::vector<std::string> conditions;
  if (filter.content) conditions.emplace_back("substr(content, 1, length(?1)) = ?1");
  if (filter.target) conditions.emplace_back("target = ?2");
  if (filter.threads) conditions.emplace_back("threads = ?3");
  Statement select =
      database.Prepare(StrCat("SELECT ", ColumnsOf(database), " FROM records",
                              conditions.empty() ? "" : " WHERE ", StrJoin(conditions, " AND "),
                              " ORDER BY content, target, threads, choice, date, scope, run"));
  if (filter.content) select.Bind(1, *filter.content);
  if (filter.target) select.Bind(2, *filter.target);
  if (filter.threads) select.Bind(3, *filter.threads);
  std::vector<Record> records;
  while (select.Step()) records.push_back(RecordOf(select));
  return records;
}

}  // namespace

const char* ToString(Scope scope) {
  switch (scope) {
    case Scope::kKernel:
      return "kernel";
    case Scope::kModel:
      return "model";
    case Scope::kWhole:
      return "whole";
  }
  Unreachable("every scope has a name");
}

std::string TargetText(const Target& target) {
  return StrCat(target.ToString(), ", features ",
                HashText(HashBytes(StrJoin(target.features, ","))));
}

std::string VersionsText() {
  return StrCat("tenon ", TENON_VERSION, ", LLVM ", jit::LlvmVersion(), ", oneDNN ",
                strategies::onednn::LibraryVersion());
}

std::string DateText() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

absl::StatusOr<Records> Records::Open(const std::string& path, Access access) {
  return CatchErrors([&] {
    auto database = std::make_unique<Database>(path, access);
    if (!IsOurs(*database)) {
      if (!IsEmpty(*database)) throw DataLoss(StrCat(path, " is a database, but not of records"));
      if (access == Access::kRead) throw DataLoss(StrCat(path, " is empty, no file of records"));
      MakeTables(*database);
    }
    const std::int64_t version = VersionOf(*database);
    if (version < 1 || version > kVersion)
      throw FailedPrecondition(StrCat(path, " has records of version ", version,
                                      "; this program reads versions up to ", kVersion));
    RequireTables(*database);
    RequireSound(*database);
    if (version < kVersion && access == Access::kWrite) AddLaterColumns(*database);
    return Records(std::move(database));
  });
}

absl::Status Records::Add(const Record& record, const std::string& text) {
  return Add({{.record = record, .text = text}});
}

absl::Status Records::Add(const std::vector<RecordWithText>& records) {
  return CatchErrors([&] {
    Transaction transaction(*database_);
    std::vector<Record> added;
    for (const RecordWithText& one : records) {
      InsertText(*database_, one.record.content, one.text);
      added.push_back(one.record);
    }
    Insert(*database_, added);
    transaction.Commit();
  });
}

absl::StatusOr<std::vector<Record>> Records::Find(const RecordFilter& filter) const {
  return CatchErrors([&] { return Select(*database_, filter); });
}

absl::StatusOr<std::string> Records::TextOf(const std::string& content) const {
  return CatchErrors([&] {
    Statement select = database_->Prepare("SELECT text FROM contents WHERE content = ?");
    select.Bind(1, content);
    return select.Step() ? select.Text(0) : std::string();
  });
}

absl::StatusOr<std::int64_t> Records::Merge(const Records& from) {
  return CatchErrors([&] {
    const std::vector<Record> records = Select(*from.database_, {});
    Statement texts = from.database_->Prepare("SELECT content, text FROM contents");
    Transaction transaction(*database_);
    const std::int64_t before = database_->Number("SELECT count(*) FROM records");
    Insert(*database_, records);
    while (texts.Step()) InsertText(*database_, texts.Text(0), texts.Text(1));
    const std::int64_t after = database_->Number("SELECT count(*) FROM records");
    transaction.Commit();
    return after - before;
  });
}

absl::StatusOr<std::int64_t> Records::Remove(const std::vector<Record>& records) {
  return CatchErrors([&] {
    Transaction transaction(*database_);
    std::int64_t removed = 0;
    Statement remove = database_->Prepare(
        "DELETE FROM records WHERE content = ? AND target = ? AND threads = ? AND choice = ? AND "
        "date = ? AND scope = ? AND run = ?");
    for (const Record& record : records) {
      BindKey(record, &remove).Run();
      removed += database_->Changes();
    }
    database_->Run("DELETE FROM contents WHERE content NOT IN (SELECT content FROM records)");
    transaction.Commit();
    return removed;
  });
}

}  // namespace tenon::tune
