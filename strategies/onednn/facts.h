// What the versions of oneDNN do differently, for conditions of rows.
#ifndef TENON_STRATEGIES_ONEDNN_FACTS_H_
#define TENON_STRATEGIES_ONEDNN_FACTS_H_

namespace tenon::strategies::onednn {

struct LibraryFacts {
  // Whether a chain of post-ops may hold one function twice with different parameters. oneDNN 2.6
  // uses those of the last for both.
  bool functions_keep_parameters = false;
  // Whether convolutions and poolings in NCHW take tensor post-ops. oneDNN 3 has reference code for
  // the first, and reads the operand in another order after the second.
  bool nchw_takes_tensors = false;
  // Whether a product multiplies weights of bytes by scales of columns and of blocks of rows.
  bool scales_weights = false;
};
LibraryFacts Facts();

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_FACTS_H_
