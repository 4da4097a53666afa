"""Think-as-Locals: a judge that writes criteria as a local would set them, then a verdict; trained with
GRPO."""
