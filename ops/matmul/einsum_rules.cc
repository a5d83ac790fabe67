#include "tenon/ops/matmul/einsum_rules.h"

#include <algorithm>
#include <map>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

// The labels of a term. An ellipsis in it stands for `dots` axes.
EinsumLabels ParseTerm(const std::string& term, std::int64_t dots) {
  EinsumLabels labels;
  bool has_dots = false;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term[i] == ' ') continue;
    if (!has_dots && term.compare(i, 3, "...") == 0) {
      for (std::int64_t d = dots; d > 0; --d) labels.push_back(static_cast<int>(-d));
      has_dots = true;
      i += 2;
    } else if ((term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z')) {
      labels.push_back(term[i]);
    } else {
      throw InvalidArgument(StrCat("the equation has the term \"", term,
                                   "\"; it takes letters and at most one ellipsis"));
    }
  }
  return labels;
}

}  // namespace

EinsumAxes ParseEinsum(const std::string& equation, const std::vector<std::size_t>& ranks) {
  const std::size_t arrow = equation.find("->");
  const std::vector<std::string> terms = StrSplit(equation.substr(0, arrow), ',');
  if (terms.size() != ranks.size())
    throw InvalidArgument(StrCat("the equation \"", equation, "\" is for ", terms.size(),
                                 " operands; there are ", ranks.size()));
  EinsumAxes axes;
  std::map<int, int> uses;
  std::int64_t max_dots = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto letters = static_cast<std::int64_t>(ParseTerm(terms[i], 0).size());
    const bool has_dots = terms[i].find("...") != std::string::npos;
    const std::int64_t dots = static_cast<std::int64_t>(ranks[i]) - letters;
    if (dots < 0 || (dots > 0 && !has_dots))
      throw InvalidArgument(StrCat("operand ", i, " has rank ", ranks[i], " and the term \"",
                                   terms[i], "\" names ", letters,
                                   letters == 1 ? " axis" : " axes"));
    max_dots = std::max(max_dots, dots);
    axes.operands.push_back(ParseTerm(terms[i], dots));
    for (const int label : axes.operands.back()) ++uses[label];
  }
  if (arrow != std::string::npos) {
    axes.result = ParseTerm(equation.substr(arrow + 2), max_dots);
  } else {
    for (const auto& [label, count] : uses)
      if (label < 0 || count == 1) axes.result.push_back(label);
  }
  for (const int label : axes.result) {
    if (!uses.contains(label) || std::count(axes.result.begin(), axes.result.end(), label) > 1)
      throw InvalidArgument("each label of the result must occur in an operand, and only once");
  }
  for (const auto& [label, count] : uses) {
    if (std::find(axes.result.begin(), axes.result.end(), label) == axes.result.end())
      axes.summed.push_back(label);
  }
  return axes;
}

}  // namespace tenon::ops
