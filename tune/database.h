// A SQLite file, as far as records need it: statements, transactions, errors in words.
//
// Every process that uses the file waits for others, up to a minute. What is committed is on disk,
// also when the process is killed right after. Errors are thrown: DataLoss for a damaged file,
// NotFound for one that is not there or that cannot be written, ResourceExhausted where others kept
// it too long; each names the file.
//
//   Database database(path, Access::kWrite);
//   Statement insert = database.Prepare("INSERT INTO t VALUES (?, ?)");
//   insert.Bind(1, "a").Bind(2, 0.5).Run();
#ifndef TENON_TUNE_DATABASE_H_
#define TENON_TUNE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace tenon::tune {

enum class Access : std::uint8_t {
  kRead,   // the file must exist, and does not change
  kWrite,  // it is made where it is missing
};

class Database;

class Statement {
 public:
  // Places count from 1.
  Statement& Bind(int place, const std::string& text);
  Statement& Bind(int place, std::int64_t number);
  Statement& Bind(int place, double number);
  // Whether there is another row.
  bool Step();
  // Runs to the end, and again after new values are bound.
  void Run();
  // Of the row; columns count from 0.
  std::string Text(int column) const;
  std::int64_t Integer(int column) const;
  double Real(int column) const;

 private:
  friend class Database;
  Statement(const Database& database, sqlite3_stmt* statement);
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  Database(const std::string& path, Access access);

  const std::string& path() const { return path_; }
  Statement Prepare(const std::string& sql) const;
  void Run(const std::string& sql) const { Prepare(sql).Run(); }
  std::int64_t Number(const std::string& sql) const;  // of the first row
  std::int64_t Changes() const;                       // rows that the last statement changed
  // Throws the error of the last call, of the code that it gave.
  [[noreturn]] void Fail(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* file) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> file_;
};

// Writes of others wait from its start to its end. Without Commit nothing of it happens.
class Transaction {
 public:
  explicit Transaction(const Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void Commit();

 private:
  const Database& database_;
  bool done_ = false;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_DATABASE_H_
