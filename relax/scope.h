// What names stand for in a function of Relax text, and what its module gives.
#ifndef TENON_RELAX_SCOPE_H_
#define TENON_RELAX_SCOPE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ops/extents/extent_places.h"
#include "tenon/relax/read_type.h"

namespace tenon::relax {

// A shape, a number or an extent, which are no expressions (read_plain.h).
struct PlainValue {
  std::optional<std::vector<Dim>> shape = std::nullopt;
  std::optional<Dim> extent = std::nullopt;  // with variables
  ir::Expr number = {};                      // where it is neither
  attrs::Value attribute = {};               // the number as an attribute

  // "the shape (n, 4)", "the extent n", "the number 2": for messages.
  std::string ToString() const;
};

enum class BlockKind { kDataflow, kBranch };

// Variables, innermost block last. A name that is bound again stands for the later value.
class Scope {
 public:
  void Open() { blocks_.emplace_back(); }
  // Keeps what the block bound: afterwards its names are known, but not to be used.
  void Close(BlockKind kind);
  // Forgets what the block bound.
  void Drop() { blocks_.pop_back(); }
  // Whether the innermost block binds the name.
  bool Binds(std::string_view name) const { return blocks_.back().contains(std::string(name)); }
  // Makes such a name known in the block around it.
  void Export(std::string_view name);
  void Bind(std::string_view name, ir::Expr value);
  void BindPlain(std::string_view name, PlainValue value);
  // Makes the name that of a variable of extents, whatever it stood for.
  void BindSymbol(std::string_view name);
  // Null when the name is not known, or stands for a plain value.
  ir::Expr Find(std::string_view name) const;
  // Null when the name is not known, or stands for an expression.
  const PlainValue* FindPlain(std::string_view name) const;
  // The kind of the last block that had the name and has ended.
  std::optional<BlockKind> Ended(std::string_view name) const;
  std::vector<std::string> Names() const;

  Symbols symbols;
  ops::ExtentPlaces extents;  // of parameters

 private:
  struct Value {
    ir::Expr expr;
    std::shared_ptr<const PlainValue> plain;
  };
  using Block = std::unordered_map<std::string, Value>;

  const Value* Innermost(std::string_view name) const;

  std::vector<Block> blocks_;
  std::unordered_map<std::string, BlockKind> ended_;
};

// The module around a function.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  // Whether the name is the module's class, as "cls" is after "cls = Module".
  virtual bool IsModule(std::string_view name) const = 0;
  virtual void AddModuleName(std::string_view name) = 0;
  // The result type of the module's function, in the function's own variables of extents. Throws at
  // `name` when there is none.
  virtual ir::Type ResultOf(const Token& name) = 0;
  // Its parameters.
  virtual const std::vector<ir::Expr>& ParametersOf(const Token& name) = 0;
  // The constant that the metadata holds. Throws at `at` when there is none.
  virtual ir::Expr ConstantOf(std::size_t index, const Token& at) = 0;
};

}  // namespace tenon::relax

#endif  // TENON_RELAX_SCOPE_H_
