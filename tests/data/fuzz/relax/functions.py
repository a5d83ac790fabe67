@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")):
        cls = Module
        y = cls.later(x)
        @R.function
        def local_func(z: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
            R.func_attr({"Composite": "a.b"})
            return R.add(z, y)
        return local_func(x)

    @R.function(private=True)
    def later(x: R.Tensor((2, 3), dtype="float32")):
        R.func_attr({"Primitive": 1, "n": [1, 2.0, None, "t", float("-inf"), R.dtype("int8")]})
        return R.exp(x)
