@tvm.script.ir_module
class Conv2dReLU:
    @R.function
    def main(data: R.Tensor((1, 4, 6, 6), "float32"), weight1: R.Tensor((8, 4, 3, 3), "float32")):
        with R.dataflow():
            conv1 = R.nn.relu(R.nn.conv2d(data, weight1, padding=(1, 1)))
            R.output(conv1)
        return conv1
