"""TensorBoard: the curves of training runs, which it only shows."""
