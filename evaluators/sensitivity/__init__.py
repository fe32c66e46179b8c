"""How much each group of layers minds low precision: values of a float32 run, and one step with it alone low."""
