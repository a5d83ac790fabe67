// Passes by the names that cases of the fuzzer give them: those of passes::FindPass, and two with
// what they are told. "ConvertLayout nn.conv2d=NHWC" converts to this layout, "PartitionGraph
// add,tanh" makes regions of these operators.
//
//   const passes::Pass pass = NamedPass(RandomConvertLayout(random));
#ifndef TENON_VERIFY_CHECK_NAMED_PASS_H_
#define TENON_VERIFY_CHECK_NAMED_PASS_H_

#include <string>

#include "tenon/ir/module.h"
#include "tenon/passes/pipeline.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// Throws what passes::FindPass throws.
passes::Pass NamedPass(const std::string& name);

// Names of passes to a random layout, and on regions of some operators that the module calls.
std::string RandomConvertLayout(Random& random);
std::string RandomPartition(const ir::Module& module, Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_NAMED_PASS_H_
