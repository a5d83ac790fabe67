// TfIdfVectorizer against counts by hand.
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The pool: 7, 8, (7 8) and (8 8), counted in the columns 3, 0, 2 and 1.
Model Vectorizer(const std::string& mode, const std::vector<float>& weights,
                 const Ints& columns = {3, 0, 2, 1}) {
  Model model;
  model.Input("x", {6}, TensorProto::INT64).Output("y");
  NodeProto& node = model.Node("TfIdfVectorizer", {"x"}, {"y"}, "grams");
  SetString(node, "mode", mode);
  SetInt(node, "min_gram_length", 1);
  SetInt(node, "max_gram_length", 2);
  SetInt(node, "max_skip_count", 0);
  SetInts(node, "ngram_counts", {0, 2});
  SetInts(node, "ngram_indexes", columns);
  SetInts(node, "pool_int64s", {7, 8, 7, 8, 8, 8});
  AttributeProto* given = node.add_attribute();
  given->set_name("weights");
  given->set_type(AttributeProto::FLOATS);
  for (const float weight : weights) given->add_floats(weight);
  return model;
}
std::vector<float> Counted(const Model& model) {
  const NDArray x = NDArray::FromVector<std::int64_t>({6}, {7, 8, 8, 8, 5, 7});
  return Computed(model, {{"x", x}})[0].ToVector<float>();
}

// 7 twice, 8 three times, (7 8) once, (8 8) twice.
TEST(TfIdfVectorizerTest, WeightsAreThoseOfTheNGramsOfThePoolInItsOrder) {
  const std::vector<float> weights = {10, 100, 1000, 10000};
  EXPECT_THAT(Counted(Vectorizer("TF", weights)), ElementsAre(3, 2, 1, 2));
  EXPECT_THAT(Counted(Vectorizer("IDF", weights)), ElementsAre(100, 10000, 1000, 10));
  EXPECT_THAT(Counted(Vectorizer("TFIDF", weights)), ElementsAre(300, 20000, 1000, 20));
}

TEST(TfIdfVectorizerTest, ColumnsWithoutAnNGramAreZero) {
  EXPECT_THAT(Counted(Vectorizer("TFIDF", {10, 100, 1000, 10000}, {5, 0, 2, 1})),
              ElementsAre(300, 20000, 1000, 0, 0, 20));
}

TEST(TfIdfVectorizerTest, NGramsOfOneColumnHaveOneWeight) {
  EXPECT_THAT(Counted(Vectorizer("TFIDF", {10, 10, 3, 4}, {0, 0, 2, 1})), ElementsAre(50, 8, 3));
  EXPECT_THAT(MessageOf(Imported(Vectorizer("IDF", {10, 100, 3, 4}, {0, 0, 2, 1})),
                        absl::StatusCode::kUnimplemented),
              AllOf(HasSubstr("grams (TfIdfVectorizer)"),
                    HasSubstr("n-grams of the weights 10 and 100 are counted in column 0")));
  EXPECT_THAT(MessageOf(Imported(Vectorizer("IDF", {10, 100})), absl::StatusCode::kInvalidArgument),
              HasSubstr("weights has 2 values for 4 n-grams; there must be one for each"));
}

}  // namespace
}  // namespace tenon::onnx_import
