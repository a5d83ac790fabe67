@R.function
def main(x: R.Tensor(("n", 4), dtype="float32"), y: R.Tensor(("n * 2 + 1", "T.max(n // 3, 7)"), dtype="float32")):
    n = T.int64()
    z: R.Tensor((n, 4), dtype="float32") = R.exp(x)
    return (z, y)
