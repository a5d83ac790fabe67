#include "tenon/schedule/tile_body.h"

#include <new>
#include <string>
#include <unordered_set>

#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;
using te::Tile;

std::string Described(const te::TensorIntrinsicNode& intrinsic, std::string_view part) {
  return StrCat("tensor intrinsic ", intrinsic.name, ": its ", part);
}

Stmt RunGuarded(const std::string& described, const te::TileBody& body,
                const std::vector<Tile>& inputs, const std::vector<Tile>& outputs) {
  try {
    return body(inputs, outputs);
  } catch (Error& error) {
    throw error.AddNote(StrCat("from ", described));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw InvalidArgument(StrCat(described, " threw an exception: ", error.what()));
  } catch (...) {
    throw InvalidArgument(StrCat(described, " threw something that is not a std::exception"));
  }
}

class BodyChecker {
 public:
  BodyChecker(std::string described, const std::vector<Tile>& inputs,
              const std::vector<Tile>& outputs)
      : described_(std::move(described)) {
    for (const auto* tiles : {&inputs, &outputs}) {
      for (const Tile& tile : *tiles) {
        readable_.insert(tile.buffer().get());
        AddVarsOf(tile.Address());
      }
    }
    for (const Tile& tile : outputs) writable_.insert(tile.buffer().get());
  }

  void Check(const Stmt& stmt) {
    if (!stmt) Refuse(" gives no statement");
    AddDefinitionsOf(stmt);
    loop::VisitStmts(stmt, [&](const Stmt& part) {
      const auto* store = part.As<loop::StoreNode>();
      if (store != nullptr && !writable_.contains(store->buffer.get()))
        Refuse(StrCat(" stores to ", store->buffer->name, ", which is none of its outputs"));
    });
    loop::VisitExprs(stmt, [&](const Expr& root) {
      loop::VisitExpr(root, [&](const Expr& e) { CheckExpr(e); });
    });
  }

 private:
  [[noreturn]] void Refuse(const std::string& reason) const {
    throw InvalidArgument(described_ + reason);
  }

  void AddVarsOf(const Expr& expr) {
    loop::VisitExpr(expr, [&](const Expr& e) {
      if (e.kind() == loop::ExprKind::kVar) vars_.insert(e.get());
    });
  }

  void AddDefinitionsOf(const Stmt& stmt) {
    loop::VisitStmts(stmt, [&](const Stmt& part) {
      if (const auto* loop = part.As<loop::ForNode>()) vars_.insert(loop->var.get());
      if (const auto* let = part.As<loop::LetStmtNode>()) vars_.insert(let->var.get());
      if (const auto* allocate = part.As<loop::AllocateNode>()) {
        readable_.insert(allocate->buffer.get());
        writable_.insert(allocate->buffer.get());
      }
    });
    loop::VisitExprs(stmt, [&](const Expr& root) {
      loop::VisitExpr(root, [&](const Expr& e) {
        if (const auto* let = e.As<loop::LetNode>()) vars_.insert(let->var.get());
      });
    });
  }

  void CheckExpr(const Expr& e) const {
    if (e.kind() == loop::ExprKind::kVar && !vars_.contains(e.get()))
      Refuse(StrCat(" uses the variable ", e.As<loop::VarNode>()->name,
                    ", which it does not define; it knows its tiles alone"));
    const auto* load = e.As<loop::LoadNode>();
    if (load != nullptr && !readable_.contains(load->buffer.get()))
      Refuse(StrCat(" reads ", load->buffer->name, ", which is none of its tiles"));
  }

  const std::string described_;
  std::unordered_set<const void*> vars_, readable_, writable_;
};

}  // namespace

Stmt RunTileBody(const te::TensorIntrinsicNode& intrinsic, std::string_view part,
                 const te::TileBody& body, const std::vector<Tile>& inputs,
                 const std::vector<Tile>& outputs) {
  const std::string described = Described(intrinsic, part);
  Stmt stmt = RunGuarded(described, body, inputs, outputs);
  BodyChecker(described, inputs, outputs).Check(stmt);
  return stmt;
}

}  // namespace tenon::schedule
