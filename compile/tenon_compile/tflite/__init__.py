# SPDX-License-Identifier: MIT
"""Networks of TensorFlow Lite (.tflite), converted to ONNX's operators."""
