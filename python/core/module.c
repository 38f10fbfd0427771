/* The module: arrays without copies, exceptions, and its list of functions. */
#include "core.h"

PyTypeObject *core_array_type;
static PyObject *model_error, *simulation_error; /* of polhode.errors */

/* --- arrays
 * ---------------------------------------------------------------------------------------- */

PyObject *core_array_new(PyObject *owner, const double *data, Py_ssize_t size, int writable)
{
  core_array *array = PyObject_New(core_array, core_array_type);
  if (!array) return NULL;
  Py_INCREF(owner);
  array->owner = owner;
  array->data = (double *)(uintptr_t)data; /* get_buffer keeps writers away */
  array->size = data ? size : 0;
  array->writable = writable;
  return (PyObject *)array;
}

static void free_array(PyObject *object)
{
  PyTypeObject *type = Py_TYPE(object);
  Py_DECREF(((core_array *)object)->owner);
  PyObject_Free(object);
  Py_DECREF(type);
}

static int get_buffer(PyObject *object, Py_buffer *view, int flags)
{
  static double none;
  core_array *array = (core_array *)object;
  if ((flags & PyBUF_WRITABLE) && !array->writable) {
    PyErr_SetString(PyExc_BufferError, "the state of a simulation is read-only");
    return -1;
  }
  *view = (Py_buffer){.buf = array->size ? array->data : &none,
                      .obj = object,
                      .len = array->size * (Py_ssize_t)sizeof(double),
                      .itemsize = (Py_ssize_t)sizeof(double),
                      .readonly = !array->writable,
                      .ndim = 1,
                      .format = (flags & PyBUF_FORMAT) ? "d" : NULL,
                      .shape = (flags & PyBUF_ND) ? &array->size : NULL,
                      .strides = NULL};
  if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view->strides = &view->itemsize;
  Py_INCREF(object);
  return 0;
}

static int add_array(PyObject *module)
{
  PyType_Slot slots[] = {
      {Py_tp_dealloc, (void *)free_array}, {Py_bf_getbuffer, (void *)get_buffer}, {0, NULL}};
  PyType_Spec spec = {"polhode._core.Array", (int)sizeof(core_array), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  core_array_type = (PyTypeObject *)PyType_FromSpec(&spec);
  return core_array_type ? PyModule_AddType(module, core_array_type) : -1;
}

/* --- exceptions
 * -------------------------------------------------------------------------------------- */

PyObject *core_raise_errors(const pol_errors *errors)
{
  PyObject *list = PyList_New(errors->count);
  for (int i = 0; list && i < errors->count; i++) {
    const pol_error *e = &errors->items[i];
    char text[1024];
    pol_error_text(e, text, sizeof text);
    PyList_SetItem(list, i,
                   Py_BuildValue("(sssssiss)", e->path, e->value, e->rule, e->suggestion,
                                 e->element, e->line, e->file, text));
  }
  PyObject *exception = list ? PyObject_CallFunction(model_error, "N", list) : NULL;
  if (exception) PyErr_SetObject(model_error, exception);
  Py_XDECREF(exception);
  return NULL;
}

PyObject *core_raise_failure(core_model *model, const pol_diagnostics *d)
{
  for (core_callback *callback = model->callbacks; callback; callback = callback->next)
    if (callback->exception) {
      PyObject *exception = callback->exception;
      callback->exception = NULL;
      PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
      Py_DECREF(exception);
      return NULL;
    }
  PyObject *exception =
      PyObject_CallFunction(simulation_error, "sddlidsss", pol_status_text(d->status), d->t, d->h,
                            d->step, d->iteration, d->residual, d->where, d->message, d->advice);
  if (exception) PyErr_SetObject(simulation_error, exception);
  Py_XDECREF(exception);
  return NULL;
}

/* --- the module
 * -------------------------------------------------------------------------------------- */

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
  static PyMethodDef functions[] = {
      {"read_result", core_read_result, METH_VARARGS, NULL},
      {"write_view", core_write_view, METH_VARARGS, NULL},
      {"static", core_static, METH_VARARGS, NULL},
      {"modes", core_modes, METH_VARARGS, NULL},
      {"linearize", core_linearize, METH_VARARGS, NULL},
      {NULL, NULL, 0, NULL},
  };
  static struct PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "polhode._core", NULL, -1, functions, NULL, NULL, NULL, NULL};
  PyObject *errors = PyImport_ImportModule("polhode.errors");
  if (!errors) return NULL;
  model_error = PyObject_GetAttrString(errors, "ModelError");
  simulation_error = PyObject_GetAttrString(errors, "SimulationError");
  Py_DECREF(errors);
  PyObject *module = model_error && simulation_error ? PyModule_Create(&definition) : NULL;
  if (!module) return NULL;
  if (add_array(module) || core_add_model(module) || core_add_simulation(module) ||
      PyModule_AddStringConstant(module, "version", pol_version())) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
