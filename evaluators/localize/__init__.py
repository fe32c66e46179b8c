"""Where a policy's training step leaves its float32 twin: the same weights and batch, compared op by op."""
