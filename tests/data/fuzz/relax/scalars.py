@R.function
def main():
    return (R.const(1, "int8"), R.const(-0.5, "float16"), R.const(True, "bool"), R.const(2.5), R.const(1e-30, "bfloat16"))
