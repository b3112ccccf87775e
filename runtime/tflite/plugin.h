/* SPDX-License-Identifier: MIT */
/* The row of TensorFlow Lite in the table of plug-ins (runtime/table/plugin_row.h). */
#define TFLITE_KINDS(each)     each("tflite", tflite_module_load)
#define TFLITE_FUNCTIONS(each) each("ffi.Module.load_from_file.tflite", tflite_load_file)
PLUGIN(TFLITE_EXECUTOR, tflite, EXECUTOR, TFLITE_KINDS, TFLITE_FUNCTIONS,
       "ffi.Module.load_from_file.tflite\0")
MODEL_FORMAT(tflite)
