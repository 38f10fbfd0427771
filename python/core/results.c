/* Results from files, and pages of the viewer. */
#include "core.h"

/* read_result(path) -> (channels, bytes of rows x channels doubles, about) */
PyObject *core_read_result(PyObject *module, PyObject *args)
{
  const char *path;
  char message[512] = "";
  pol_result *result = NULL;
  (void)module;
  if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
  if (pol_result_open(&result, path, message, sizeof message))
    return PyErr_Format(PyExc_OSError, "%s: %s", path, message);
  const int count = pol_result_count(result);
  const long rows = pol_result_rows(result);
  const pol_result_info *info = pol_result_about(result);
  PyObject *numbers =
      PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)sizeof(double) * rows * count);
  PyObject *channels = PyList_New(count), *found = NULL;
  for (int i = 0; channels && i < count; i++) {
    const pol_channel *c = pol_result_channel(result, i);
    PyList_SetItem(channels, i,
                   Py_BuildValue("(sssss)", c->name, c->unit, c->group, c->owner, c->quantity));
  }
  if (numbers && channels && rows > 0 &&
      pol_result_read_rows(result, 0, rows, (double *)(void *)PyByteArray_AsString(numbers)))
    PyErr_SetString(PyExc_OSError, POL_RESULT_DAMAGED);
  else if (numbers && channels)
    found = Py_BuildValue("(OO{s:s, s:z, s:z, s:z, s:z})", channels, numbers, "format",
                          info->format, "name", info->name, "model", info->model, "status",
                          info->status, "failure", info->failure);
  Py_XDECREF(numbers);
  Py_XDECREF(channels);
  pol_result_close(&result);
  return found;
}

/* write_view(model, result path, page path, folder of meshes) */
PyObject *core_write_view(PyObject *module, PyObject *args)
{
  PyObject *model;
  const char *path, *page, *folder;
  char message[512] = "";
  pol_result *result = NULL;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!ssz", core_model_type, &model, &path, &page, &folder)) return NULL;
  pol_status status = pol_result_open(&result, path, message, sizeof message);
  const pol_view_options options = {.folder = folder};
  if (!status)
    status = pol_view_write(page, ((core_model *)model)->model, result, &options, NULL, message,
                            sizeof message);
  pol_result_close(&result);
  if (status == POL_NO_MEMORY) return PyErr_NoMemory();
  if (status)
    return PyErr_Format(status == POL_IO ? PyExc_OSError : PyExc_ValueError, "%s", message);
  Py_RETURN_NONE;
}
