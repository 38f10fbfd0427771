/* Models: reading, names, parameters, and forces by Python functions. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

PyTypeObject *core_model_type;

/* --- forces by Python functions -----------------------------------------------------------------
 */

/* Three or six numbers of what a function returned: a sequence. */
static int read_numbers(const char *name, PyObject *value, double out[6])
{
  memset(out, 0, 6 * sizeof *out);
  Py_buffer view;
  if (PyObject_CheckBuffer(value)) { /* an array of doubles needs no objects */
    if (PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) == 0) {
      const int fits = view.itemsize == (Py_ssize_t)sizeof(double) && view.format &&
                       strcmp(view.format, "d") == 0 &&
                       (view.len == 3 * view.itemsize || view.len == 6 * view.itemsize);
      if (fits) memcpy(out, view.buf, (size_t)view.len);
      PyBuffer_Release(&view);
      if (fits) return 0;
    }
    PyErr_Clear();
  }
  PyObject *list = PySequence_Fast(value, "");
  if (!list) {
    PyErr_Format(PyExc_TypeError, "force '%s' must return 3 or 6 numbers, not %R", name, value);
    return -1;
  }
  const Py_ssize_t count = PySequence_Size(list);
  if (count != 3 && count != 6)
    PyErr_Format(PyExc_ValueError,
                 "force '%s' must return 3 numbers (force) or 6 (force, torque), not %zd", name,
                 count);
  for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
    PyObject *item = PySequence_GetItem(list, i);
    out[i] = item ? PyFloat_AsDouble(item) : 0.0;
    Py_XDECREF(item);
  }
  Py_DECREF(list);
  return PyErr_Occurred() ? -1 : 0;
}

static void put_motion(const pol_motion *from, double *to)
{
  memcpy(to, from->position, 3 * sizeof *to);
  memcpy(to + 3, from->rotation, 9 * sizeof *to);
  memcpy(to + 12, from->velocity, 3 * sizeof *to);
  memcpy(to + 15, from->angular_velocity, 3 * sizeof *to);
}

/* The wrench on the first body is that of the function: a force at its centre of mass, global axes,
 * and a torque in its own axes.  The other body gets the opposite, in the same line. */
static pol_status call_force(double t, const pol_motion motion[2], double wrench[12], void *user)
{
  core_callback *callback = user;
  const PyGILState_STATE lock = PyGILState_Ensure();
  double f[6];
  int failed = callback->exception != NULL;
  if (!failed) {
    put_motion(&motion[0], callback->motion);
    put_motion(&motion[1], callback->motion + 18);
    PyObject *value = PyObject_CallFunction(callback->function, "d", t);
    failed = !value || read_numbers(callback->name, value, f);
    Py_XDECREF(value);
    if (failed) {
      PyObject *type, *exception, *trace;
      PyErr_Fetch(&type, &exception, &trace);
      PyErr_NormalizeException(&type, &exception, &trace);
      if (trace) PyException_SetTraceback(exception, trace);
      callback->exception = exception;
      Py_XDECREF(type);
      Py_XDECREF(trace);
    }
  }
  PyGILState_Release(lock);
  if (failed) return POL_CALLBACK;
  const double *R1 = motion[0].rotation, *R2 = motion[1].rotation;
  double arm[3], torque[3];
  for (int i = 0; i < 3; i++) {
    wrench[i] = f[3 + i];
    wrench[3 + i] = f[i];
    wrench[9 + i] = -f[i];
    arm[i] = motion[0].position[i] - motion[1].position[i];
    torque[i] = R1[3 * i] * f[3] + R1[3 * i + 1] * f[4] + R1[3 * i + 2] * f[5];
  }
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    torque[i] += arm[j] * f[k] - arm[k] * f[j];
  }
  for (int i = 0; i < 3; i++)
    wrench[6 + i] = -(R2[i] * torque[0] + R2[3 + i] * torque[1] + R2[6 + i] * torque[2]);
  return POL_OK;
}

static int body_index(core_model *self, const char *name, int *index)
{
  *index = strcmp(name, "ground") == 0 ? POL_GROUND
                                       : pol_mechanism_find_body(self->model->mechanism, name);
  if (*index != POL_NOT_FOUND) return 0;
  PyErr_Format(PyExc_KeyError, "no body has the name '%s'", name);
  return -1;
}

/* add_force(name, body, other, function, length) -> array of the motions, which the function reads
 */
static PyObject *add_force(PyObject *object, PyObject *args)
{
  core_model *self = (core_model *)object;
  const char *name, *body, *other;
  PyObject *function;
  double length;
  pol_force force = pol_force_default();
  if (!PyArg_ParseTuple(args, "sssOd", &name, &body, &other, &function, &length)) return NULL;
  if (body_index(self, body, &force.bodies[0]) || body_index(self, other, &force.bodies[1]))
    return NULL;
  core_callback *callback = calloc(1, sizeof *callback);
  double *motion = calloc(CORE_MOTION_SIZE, sizeof *motion);
  char *own_name = strdup(name);
  if (!callback || !motion || !own_name) {
    free(callback);
    free(motion);
    free(own_name);
    return PyErr_NoMemory();
  }
  Py_INCREF(function);
  *callback = (core_callback){
      .name = own_name, .function = function, .motion = motion, .next = self->callbacks};
  self->callbacks = callback;
  force.name = name;
  force.type = POL_CALLBACK_FORCE;
  force.callback = (pol_callback){.wrench = call_force, .length = length, .user = callback};
  const pol_status status = pol_mechanism_add_force(self->model->mechanism, &force, NULL);
  if (status == POL_NO_MEMORY) return PyErr_NoMemory();
  if (status) return core_raise_errors(pol_mechanism_errors(self->model->mechanism));
  return core_array_new(object, motion, CORE_MOTION_SIZE, 0);
}

/* --- the model -----------------------------------------------------------------------------------
 */

/* Texts of a list of str, which must outlive them; PyMem_Free the array. */
static const char **texts_of(PyObject *list, int *count)
{
  const Py_ssize_t n = PyList_Size(list);
  const char **texts = n >= 0 ? PyMem_Malloc(((size_t)n + 1) * sizeof *texts) : NULL;
  *count = (int)n;
  for (Py_ssize_t i = 0; texts && i < n; i++)
    if (!(texts[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL))) {
      PyMem_Free(texts);
      return NULL;
    }
  return texts;
}

/* Model(source, is_file, overrides) */
static PyObject *new_model(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
  const char *source;
  int is_file, count;
  PyObject *list;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "spO", &source, &is_file, &list)) return NULL;
  const char **overrides = texts_of(list, &count);
  if (!overrides) return NULL;
  pol_model *model = NULL;
  pol_errors errors = {0};
  pol_status status;
  Py_BEGIN_ALLOW_THREADS status =
      is_file ? pol_model_read_file(&model, source, count, overrides, &errors)
              : pol_model_read_text(&model, source, count, overrides, &errors);
  Py_END_ALLOW_THREADS PyMem_Free(overrides);
  if (status == POL_NO_MEMORY) return PyErr_NoMemory();
  if (status) {
    core_raise_errors(&errors);
    pol_errors_clear(&errors);
    return NULL;
  }
  core_model *self = (core_model *)PyType_GenericAlloc(type, 0);
  if (self)
    self->model = model;
  else
    pol_model_free(&model);
  return (PyObject *)self;
}

static void free_model(PyObject *object)
{
  core_model *self = (core_model *)object;
  PyTypeObject *type = Py_TYPE(object);
  pol_model_free(&self->model);
  while (self->callbacks) {
    core_callback *next = self->callbacks->next;
    Py_XDECREF(self->callbacks->function);
    Py_XDECREF(self->callbacks->exception);
    free(self->callbacks->name);
    free(self->callbacks->motion);
    free(self->callbacks);
    self->callbacks = next;
  }
  PyObject_Free(object);
  Py_DECREF(type);
}

/* Names of elements of a kind, in their order; of unnamed markers None. */
static PyObject *names(PyObject *object, PyObject *args)
{
  const pol_mechanism *m = ((core_model *)object)->model->mechanism;
  const char *kind;
  if (!PyArg_ParseTuple(args, "s", &kind)) return NULL;
  static const char *const kinds[] = {"bodies", "markers",   "joints",    "forces",
                                      "drives", "couplings", "variables", "states"};
  const int counts[] = {pol_mechanism_num_bodies(m),    pol_mechanism_num_markers(m),
                        pol_mechanism_num_joints(m),    pol_mechanism_num_forces(m),
                        pol_mechanism_num_drives(m),    pol_mechanism_num_couplings(m),
                        pol_mechanism_num_variables(m), pol_mechanism_num_states(m)};
  int k = 0;
  while (k < 8 && strcmp(kinds[k], kind) != 0) k++;
  if (k == 8) return PyErr_Format(PyExc_KeyError, "%s", kind);
  PyObject *list = PyList_New(counts[k]);
  for (int i = 0; list && i < counts[k]; i++) {
    const char *name = k == 0   ? pol_mechanism_body(m, i)->name
                       : k == 1 ? pol_mechanism_marker(m, i)->name
                       : k == 2 ? pol_mechanism_joint(m, i)->name
                       : k == 3 ? pol_mechanism_force(m, i)->name
                       : k == 4 ? pol_mechanism_drive(m, i)->name
                       : k == 5 ? pol_mechanism_coupling(m, i)->name
                       : k == 6 ? pol_mechanism_variable(m, i)->name
                                : pol_mechanism_state(m, i)->name;
    PyList_SetItem(list, i, PyUnicode_FromString(name ? name : ""));
  }
  return list;
}

/* (name, text, end, {parameter: value}) */
static PyObject *about(PyObject *object, PyObject *none)
{
  const pol_model *model = ((core_model *)object)->model;
  (void)none;
  PyObject *parameters = PyDict_New();
  for (int i = 0; parameters && i < model->num_parameters; i++) {
    PyObject *value = PyFloat_FromDouble(model->parameters[i].value);
    if (!value || PyDict_SetItemString(parameters, model->parameters[i].name, value)) {
      Py_XDECREF(value);
      Py_DECREF(parameters);
      return NULL;
    }
    Py_DECREF(value);
  }
  return Py_BuildValue("(ssdN)", model->name, model->text, model->settings.end, parameters);
}

int core_add_model(PyObject *module)
{
  static PyMethodDef methods[] = {
      {"add_force", add_force, METH_VARARGS, NULL},
      {"names", names, METH_VARARGS, NULL},
      {"about", about, METH_NOARGS, NULL},
      {NULL, NULL, 0, NULL},
  };
  PyType_Slot slots[] = {{Py_tp_new, (void *)new_model},
                         {Py_tp_dealloc, (void *)free_model},
                         {Py_tp_methods, methods},
                         {0, NULL}};
  PyType_Spec spec = {"polhode._core.Model", (int)sizeof(core_model), 0, Py_TPFLAGS_DEFAULT, slots};
  core_model_type = (PyTypeObject *)PyType_FromSpec(&spec);
  return core_model_type ? PyModule_AddType(module, core_model_type) : -1;
}
