@R.function
def main(x: R.Tensor((2, 3, 4), "float32"), i: R.Tensor((2, 1), "int64")):
    with R.dataflow():
        a = R.expand_dims(x, axis=[0, -1])
        b, c, d = R.split(x, 3, axis=-1)
        e = R.one_hot(i, R.prim_value(T.float32(1)), R.prim_value(T.float32(-0.5)), depth=3)
        f = R.gather_nd(x, i, batch_dims=1)
        g = R.add(R.repeat(x, 2, axis=1), R.prim_value(T.float32(2)))
        R.output(a, b, c, d, e, f, g)
    return (a, b, c, d, e, f, g)
