// Operators that say where values live. Their results are their inputs.
#include "tenon/ops/builtin.h"
#include "tenon/ops/device/device_attrs.h"
#include "tenon/support/device.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

void CheckDevice(const TypeCall& call, const char* field, const std::string& text) {
  if (!text.empty() && !Device::Parse(text))
    call.Refuse(StrCat(field, " is \"", text,
                       "\"; devices are cpu, cuda, opencl, vulkan, metal and rocm, with a number "
                       "after a colon for others than the first"));
}

void OnDevice(TypeCall& call) {
  CheckDevice(call, "virtual_device", call.attrs<OnDeviceAttrs>().virtual_device);
  if (call.input(0)) call.LearnResult(call.input(0));
}

void DeviceCopy(TypeCall& call) {
  const auto& attrs = call.attrs<DeviceCopyAttrs>();
  CheckDevice(call, "src_virtual_device", attrs.src_virtual_device);
  CheckDevice(call, "dst_virtual_device", attrs.dst_virtual_device);
  Identity(call);
}

}  // namespace

void RegisterDeviceOps(OpRegistry& registry) {
  registry.Register("on_device")
      .Describe("marks where the input is computed; PlanDevices and RewriteAnnotatedOps read it")
      .Argument("body", "Expr", "what is marked")
      .Attrs<OnDeviceAttrs>()
      .Level(10)
      .Stateful()  // says a place, which no folding may remove
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(OnDevice, "OnDevice");
  registry.Register("device_copy")
      .Describe("the input on another device; runs as a copy of memory, without a kernel")
      .Argument("data", "Tensor", "input")
      .Attrs<DeviceCopyAttrs>()
      .Level(10)
      .Stateful()  // says a place, which no folding may remove
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(DeviceCopy, "DeviceCopy");
}

}  // namespace tenon::ops
