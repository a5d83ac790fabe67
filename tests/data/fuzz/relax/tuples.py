@R.function
def main(x: R.Tensor((2, 6), dtype="float32")) -> R.Tuple(R.Tensor((2, 2), dtype="float32"), R.Tuple):
    a, b, c = R.split(x, 3, axis=1)
    t = (a, b, (c,))
    return (t[2][0] + b * -a, ())
