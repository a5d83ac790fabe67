// Loads of ExprCodegen whose lanes lie near each other, but are not adjacent: every second or third
// element, each element twice, elements backwards, sliding windows, or rows put into each other. A
// few loads cover what the lanes of a register read, and shuffles pick from them, as compilers do
// for interleaved accesses (Nuzman, Rosen and Zaks, "Auto-vectorization of interleaved data for
// SIMD", PLDI 2006).
#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "tenon/jit/llvm/expr_codegen.h"
#include "tenon/jit/llvm/vector_pieces.h"
#include "tenon/loop/simplify/lanes.h"
#include "tenon/support/arithmetic.h"

namespace tenon::jit {
namespace {

using llvm::Value;

// One load for every so many lanes takes less time than a gather, which loads each lane by itself.
constexpr std::int64_t kLanesOfLoad = 4;
// Elements that are as far from each other are not of one array, and their lanes never run.
constexpr std::uint64_t kMaxReach = std::uint64_t{1} << 48;

// What the lanes of a register read. The last load ends with the last element that is wanted. An
// element that two loads hold is taken from the first one.
struct Window {
  std::int64_t first;            // the lowest element
  std::int64_t part;             // elements of a load
  std::vector<std::int64_t> at;  // loads, counted from the lowest element, in order
  std::vector<std::int64_t> of;  // the element of each lane, likewise

  std::size_t LoadOf(std::size_t lane) const {
    const auto ends_after = [&](std::int64_t begin) { return of[lane] < begin + part; };
    return static_cast<std::size_t>(std::ranges::find_if(at, ends_after) - at.begin());
  }
};

// The fewest loads of `part` elements that hold all of these elements, in order. Empty if what they
// reach over is shorter.
std::vector<std::int64_t> LoadsOver(const std::vector<std::int64_t>& elements, std::int64_t part) {
  std::vector<std::int64_t> at;
  const std::int64_t last = elements.back() - part + 1;
  for (const std::int64_t element : elements) {
    if (last < 0) break;
    if (at.empty() || element >= at.back() + part) at.push_back(std::min(element, last));
  }
  return at;
}

// The window of elements that lie in a few runs, however far these are from each other.
std::optional<Window> WindowOfRuns(llvm::ArrayRef<std::int64_t> offsets, std::int64_t least,
                                   std::int64_t most) {
  std::vector<std::int64_t> elements(offsets.begin(), offsets.end());
  std::ranges::sort(elements);
  const std::int64_t low = elements.front();
  for (std::int64_t& element : elements) element -= low;
  std::optional<Window> best;
  // Of loads that are as few, the shortest.
  for (auto part = static_cast<std::int64_t>(std::bit_floor(offsets.size())); part >= least;
       part /= 2) {
    std::vector<std::int64_t> at = LoadsOver(elements, part);
    const auto count = static_cast<std::int64_t>(at.size());
    if (at.empty() || count > most || (best && at.size() > best->at.size())) continue;
    best = Window{.first = low, .part = part, .at = std::move(at), .of = {}};
  }
  if (best) {
    for (const std::int64_t offset : offsets) best->of.push_back(offset - low);
  }
  return best;
}

// Elements that are known to exist: those of a buffer, and where in it the offsets count from.
struct Existing {
  std::int64_t size, place;
};

// Makes it one load for all if so many elements exist around those that are wanted. It starts at a
// multiple of its size if that covers them. Vectors are stored so, and a load of what is just being
// stored must not reach over two.
void WidenLoad(Window& window, std::int64_t extent, std::int64_t lanes, const Existing& existing) {
  const std::int64_t part = BitCeil(extent);
  const std::int64_t wanted = existing.place + window.first;
  const std::int64_t aligned = wanted / part * part;
  const std::int64_t begin = wanted + extent <= aligned + part ? aligned : wanted;
  // What would lie before the buffer is never read.
  if (wanted < 0 || begin + part > existing.size || part > lanes) return;
  for (std::int64_t& of : window.of) of += wanted - begin;
  window.first += begin - wanted;
  window.part = part;
  window.at = {0};
}

// The window of the offsets. Nothing if it takes more than `most` loads.
std::optional<Window> WindowOf(llvm::ArrayRef<std::int64_t> offsets, std::int64_t most,
                               const std::optional<Existing>& existing) {
  const auto lanes = static_cast<std::int64_t>(offsets.size());
  const auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
  const auto reach = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
  if (reach >= kMaxReach) return std::nullopt;
  if (reach >= static_cast<std::uint64_t>(most * lanes))
    return WindowOfRuns(offsets, kLanesOfLoad, most);
  const auto extent = static_cast<std::int64_t>(reach) + 1;
  Window window{.first = *low,
                .part = std::min(lanes, static_cast<std::int64_t>(std::bit_floor(reach + 1)))};
  for (std::int64_t at = 0; at < extent; at += window.part)
    window.at.push_back(std::min(at, extent - window.part));
  for (const std::int64_t offset : offsets) window.of.push_back(offset - *low);
  if (existing && window.at.size() > 1) WidenLoad(window, extent, lanes, *existing);
  return window;
}

// The windows of each `chunk` lanes. The last lane takes the place of those that are missing. Empty
// if one window takes more than `most` loads.
std::vector<Window> WindowsOf(std::vector<std::int64_t> offsets, std::size_t chunk,
                              std::int64_t most, const std::optional<Existing>& existing) {
  offsets.resize(RoundUp(offsets.size(), chunk), offsets.back());
  std::vector<Window> windows;
  for (std::size_t first = 0; first < offsets.size(); first += chunk) {
    const auto window = WindowOf(llvm::ArrayRef(offsets).slice(first, chunk), most, existing);
    if (!window) return {};
    windows.push_back(*window);
  }
  return windows;
}

// What is known to exist beyond the elements that are read: those of a buffer at a known place.
std::optional<Existing> ExistingAround(const loop::Buffer& buffer, const loop::Expr& base) {
  const auto* place = base.As<loop::IntImmNode>();
  if (place == nullptr) return std::nullopt;
  Existing existing{.size = 1, .place = place->value};
  for (const loop::Expr& extent : buffer->shape) {
    const auto* number = extent.As<loop::IntImmNode>();
    if (number == nullptr) return std::nullopt;
    existing.size *= number->value;
  }
  return existing;
}

// Gives lanes that a known mask leaves out the offset of the first lane that it leaves in. Returns
// whether the mask is known and leaves a lane in.
bool LeaveOut(Value* mask, std::vector<std::int64_t>& offsets) {
  const auto* known = llvm::dyn_cast<llvm::Constant>(mask);
  if (known == nullptr) return false;
  const auto is_in = [&](std::size_t lane) {
    const llvm::Constant* bit = known->getAggregateElement(static_cast<unsigned>(lane));
    return bit != nullptr && bit->isOneValue();
  };
  std::size_t first = 0;
  while (first < offsets.size() && !is_in(first)) ++first;
  if (first == offsets.size()) return false;
  for (std::size_t lane = 0; lane < offsets.size(); ++lane) {
    if (!is_in(lane)) offsets[lane] = offsets[first];
  }
  return true;
}

// The most lanes that read the same element.
std::int64_t MostReaders(std::vector<std::int64_t> offsets) {
  std::sort(offsets.begin(), offsets.end());
  std::int64_t most = 0;
  for (auto it = offsets.begin(); it != offsets.end();) {
    const auto end = std::upper_bound(it, offsets.end(), *it);
    most = std::max<std::int64_t>(most, end - it);
    it = end;
  }
  return most;
}

// A mask of the elements of load `i` that are wanted by one of the lanes that read them. The
// window's lanes have `lanes` bits of `mask`, from `first` on.
Value* MaskOfLoad(llvm::IRBuilder<>& builder, const Window& window, std::size_t i, Value* mask,
                  std::size_t first, std::size_t lanes) {
  const auto none = static_cast<int>(LanesOf(mask));
  std::vector<llvm::SmallVector<int>> readers;  // the first lane of each element, the second, ...
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (window.LoadOf(lane) != i) continue;
    const auto element = static_cast<std::size_t>(window.of[lane] - window.at[i]);
    auto free = std::find_if(readers.begin(), readers.end(),
                             [&](const auto& lane_of) { return lane_of[element] == none; });
    if (free == readers.end())
      free =
          readers.insert(free, llvm::SmallVector<int>(static_cast<std::size_t>(window.part), none));
    (*free)[element] = static_cast<int>(first + lane);
  }
  Value* wanted = nullptr;
  for (const auto& lane_of : readers) {
    Value* bits = PickBits(builder, mask, lane_of);
    wanted = wanted == nullptr ? bits : builder.CreateOr(wanted, bits);
  }
  return wanted;
}

// The lanes of the window from its loads, of which `load` makes one.
Value* Picked(llvm::IRBuilder<>& builder, const Window& window,
              const std::function<Value*(std::size_t i)>& load) {
  Value* all = nullptr;
  for (std::size_t i = 0; i < window.at.size(); i += 2) {
    Value* first = load(i);
    const bool is_pair = i + 1 < window.at.size();
    Value* second = is_pair ? load(i + 1) : llvm::PoisonValue::get(first->getType());
    const auto lanes = static_cast<int>(window.of.size());
    llvm::SmallVector<int> picks, joined;
    for (int lane = 0; lane < lanes; ++lane) {
      const std::size_t from = window.LoadOf(static_cast<std::size_t>(lane));
      const bool is_here = from == i || from == i + 1;
      const std::int64_t element = window.of[static_cast<std::size_t>(lane)] - window.at[from];
      picks.push_back(is_here ? static_cast<int>((from == i ? 0 : window.part) + element) : -1);
      joined.push_back(is_here ? lanes + lane : lane);
    }
    Value* picked = builder.CreateShuffleVector(first, second, picks);
    all = all == nullptr ? picked : builder.CreateShuffleVector(all, picked, joined);
  }
  return all;
}

}  // namespace

// Without a mask all lanes are read. With one, a lane whose bit is false reads 0, and what no other
// lane wants is not touched.
Value* ExprCodegen::EmitNear(const loop::LoadNode& node, Value* mask, DataType type) {
  // Rows that are put into each other, so that their loads and joining them take less time than a
  // gather.
  constexpr std::size_t kMaxRows = 4;
  const std::optional<loop::SteppedOffsets> lanes = loop::SteppedOffsetsOf(node.indices[0]);
  if (!lanes) return nullptr;
  if (!lanes->step.defined()) return EmitRow(node, lanes->near, mask, type);
  const std::set<std::int64_t> rows(lanes->steps.begin(), lanes->steps.end());
  if (rows.size() > kMaxRows) return nullptr;
  Value* all = nullptr;
  for (const std::int64_t row : rows) {
    llvm::SmallVector<llvm::Constant*> bits;
    for (const std::int64_t step : lanes->steps) bits.push_back(builder_.getInt1(step == row));
    llvm::Constant* own = llvm::ConstantVector::get(bits);
    loop::LaneOffsets near = lanes->near;
    near.base = near.base + lanes->step * row;
    Value* read = EmitRow(node, near, mask == nullptr ? own : builder_.CreateAnd(mask, own), type);
    if (read == nullptr) return nullptr;
    all = all == nullptr ? read : builder_.CreateSelect(own, read, all);
  }
  return all;
}

Value* ExprCodegen::EmitRow(const loop::LoadNode& node, loop::LaneOffsets near, Value* mask,
                            DataType type) {
  // Joining the masks of so many lanes that read one element takes less time than that, too.
  constexpr std::int64_t kMaxReaders = 4;
  // Loads for lanes that are known to be wanted need no mask.
  Value* const guard = mask != nullptr && LeaveOut(mask, near.offsets) ? nullptr : mask;
  const DataType element = type.element();
  const auto lanes = static_cast<std::size_t>(type.lanes());
  const std::size_t chunk = std::min(
      std::bit_ceil(lanes), static_cast<std::size_t>(options_.vector_bits) / 8 / element.bytes());
  const std::int64_t most =
      guard != nullptr ? 2
                       : std::max<std::int64_t>(2, static_cast<std::int64_t>(chunk) / kLanesOfLoad);
  const std::optional<Existing> existing =
      guard != nullptr ? std::nullopt : ExistingAround(node.buffer, near.base);
  const std::vector<Window> windows = WindowsOf(near.offsets, chunk, most, existing);
  if (windows.empty()) return nullptr;
  const std::int64_t readers = guard == nullptr ? 1 : MostReaders(near.offsets);
  const bool are_vectors = std::none_of(windows.begin(), windows.end(),
                                        [](const Window& window) { return window.part == 1; });
  if (guard != nullptr && (readers > kMaxReaders || !are_vectors)) return nullptr;
  Value* base = EmitShared(near.base);
  const auto load = [&](const Window& window, std::size_t first, std::size_t i) -> Value* {
    const std::int64_t offset = window.first + window.at[i];
    Value* index = builder_.CreateAdd(base, llvm::ConstantInt::getSigned(base->getType(), offset),
                                      "", false, true);
    const DataType part = element.WithLanes(static_cast<int>(window.part));
    if (guard != nullptr) {
      Value* wanted = MaskOfLoad(builder_, window, i, guard, first, std::min(chunk, lanes - first));
      if (wanted == nullptr) return llvm::Constant::getNullValue(MemoryType(part));
      return EmitUnderMask(node.buffer, index, part, wanted);
    }
    auto* loaded = builder_.CreateAlignedLoad(MemoryType(part), ElementAddress(node.buffer, index),
                                              llvm::Align(element.bytes()));
    Annotate(loaded, node.buffer);
    return window.part == 1 ? builder_.CreateVectorSplat(1, loaded) : loaded;
  };
  Value* made = ByPieces(builder_, static_cast<unsigned>(windows.size() * chunk),
                         static_cast<unsigned>(chunk), [&](unsigned first) {
                           const Window& window = windows[first / chunk];
                           return Picked(builder_, window,
                                         [&](std::size_t i) { return load(window, first, i); });
                         });
  made = Resized(builder_, made, static_cast<unsigned>(lanes));
  if (readers > 1 || guard != mask)
    made = builder_.CreateSelect(mask, made, llvm::Constant::getNullValue(made->getType()));
  return ToRegister(made, type);
}

}  // namespace tenon::jit
