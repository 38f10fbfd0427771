/* Simulations: steps without the lock of the interpreter, views of the state, rows of the record.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

PyTypeObject *core_simulation_type;

typedef struct core_simulation {
  PyObject_HEAD core_model *model;
  pol_simulation *simulation;
  pol_record *record;
  pol_writer *writer; /* NULL: rows go nowhere but to the caller */
  int busy;           /* a thread is in a step */
  int interrupted;    /* a signal has arrived, as Ctrl-C */
  double polled;      /* when signals were last looked at, s */
} core_simulation;

/* Looks for signals at most 20 times a second: they stop the step. */
static int poll_signals(const char *stage, double share, void *user)
{
  core_simulation *self = user;
  struct timespec now;
  (void)stage, (void)share;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double t = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  if (t < self->polled + 0.05) return 0;
  self->polled = t;
  const PyGILState_STATE lock = PyGILState_Ensure();
  self->interrupted = PyErr_CheckSignals() != 0;
  if (self->interrupted) PyErr_Clear();
  PyGILState_Release(lock);
  return self->interrupted;
}

static void free_simulation(PyObject *object)
{
  core_simulation *self = (core_simulation *)object;
  PyTypeObject *type = Py_TYPE(object);
  if (self->writer) pol_writer_close(&self->writer, "interrupted", NULL);
  pol_record_free(&self->record);
  pol_simulation_free(&self->simulation);
  Py_XDECREF((PyObject *)self->model);
  PyObject_Free(object);
  Py_DECREF(type);
}

/* Raises why a simulation cannot be created: FMUs that do not fit are errors of the model. */
static void raise_start(core_model *model, const pol_diagnostics *wrong)
{
  pol_errors errors = {0};
  if (pol_model_check_controllers(model->model, &errors) == POL_NO_MEMORY)
    PyErr_NoMemory();
  else if (errors.count > 0)
    core_raise_errors(&errors);
  else
    core_raise_failure(model, wrong);
  pol_errors_clear(&errors);
}

/* Simulation(model) */
static PyObject *new_simulation(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
  PyObject *model;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "O!", core_model_type, &model)) return NULL;
  core_simulation *self = (core_simulation *)PyType_GenericAlloc(type, 0);
  if (!self) return NULL;
  Py_INCREF(model);
  self->model = (core_model *)model;
  pol_settings settings = self->model->model->settings;
  settings.progress = (pol_progress){poll_signals, self};
  pol_diagnostics wrong = {0};
  pol_status status;
  Py_BEGIN_ALLOW_THREADS status =
      pol_model_create_simulation(&self->simulation, self->model->model, &settings, &wrong);
  if (!status) status = pol_record_create(&self->record, self->simulation);
  Py_END_ALLOW_THREADS if (!status) return (PyObject *)self;
  if (self->interrupted)
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  else if (status == POL_NO_MEMORY)
    PyErr_NoMemory();
  else
    raise_start(self->model, &wrong);
  Py_DECREF((PyObject *)self);
  return NULL;
}

/* --- steps ---------------------------------------------------------------------------------------
 */

/* One thread at a time: 0, or -1 with an exception. */
static int enter(core_simulation *self)
{
  if (self->busy) {
    PyErr_SetString(PyExc_RuntimeError, "this simulation is stepping in another thread");
    return -1;
  }
  self->busy = 1;
  self->interrupted = 0;
  return 0;
}

/* Ends a call that has stepped; NULL with an exception if it failed. */
static PyObject *leave(core_simulation *self, pol_status status, PyObject *value)
{
  self->busy = 0;
  if (!status) return value;
  Py_XDECREF(value);
  if (self->interrupted) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return NULL;
  }
  if (status == POL_BAD_ARGUMENT && pol_simulation_finished(self->simulation)) {
    PyErr_SetString(PyExc_StopIteration, "the simulation has reached its end");
    return NULL;
  }
  return core_raise_failure(self->model, pol_simulation_diagnostics(self->simulation));
}

/* step(count): as many output steps, fewer at the end. */
static PyObject *step(PyObject *object, PyObject *args)
{
  core_simulation *self = (core_simulation *)object;
  long count;
  if (!PyArg_ParseTuple(args, "l", &count) || enter(self)) return NULL;
  pol_status status = POL_OK;
  Py_BEGIN_ALLOW_THREADS for (long i = 0; i < count && !status; i++)
  {
    if (i > 0 && pol_simulation_finished(self->simulation)) break;
    status = pol_simulation_step(self->simulation);
  }
  Py_END_ALLOW_THREADS return leave(self, status,
                                    Py_BuildValue("d", pol_simulation_state(self->simulation)->t));
}

/* advance(rows, until) -> (number of rows, status): fills a buffer of doubles with rows of the
 * record, one for each output step, until it is full, the time `until` or the end is reached, or a
 * step fails, which check() raises. */
static PyObject *advance(PyObject *object, PyObject *args)
{
  core_simulation *self = (core_simulation *)object;
  PyObject *target;
  Py_buffer view;
  double until;
  if (!PyArg_ParseTuple(args, "Od", &target, &until)) return NULL;
  if (PyObject_GetBuffer(target, &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)) return NULL;
  if (enter(self)) {
    PyBuffer_Release(&view);
    return NULL;
  }
  const size_t width = (size_t)pol_record_count(self->record);
  const size_t room = (size_t)view.len / (width * sizeof(double));
  size_t rows = 0;
  pol_status status = POL_OK;
  Py_BEGIN_ALLOW_THREADS while (rows < room && !status &&
                                pol_simulation_state(self->simulation)->t < until &&
                                !pol_simulation_finished(self->simulation))
  {
    status = pol_simulation_step(self->simulation);
    if (!status && self->writer) status = pol_writer_write(self->writer);
    if (!status) pol_record_row(self->record, (double *)view.buf + width * rows++);
  }
  Py_END_ALLOW_THREADS PyBuffer_Release(&view);
  self->busy = 0;
  return Py_BuildValue("(ni)", (Py_ssize_t)rows, (int)status);
}

/* check(status): raises the failure of the last step. */
static PyObject *check(PyObject *object, PyObject *args)
{
  core_simulation *self = (core_simulation *)object;
  int status;
  if (!PyArg_ParseTuple(args, "i", &status)) return NULL;
  if (status == POL_IO) {
    PyErr_SetString(PyExc_OSError, "the result cannot be written");
    return NULL;
  }
  Py_INCREF(Py_None);
  return leave(self, (pol_status)status, Py_None);
}

/* --- values --------------------------------------------------------------------------------------
 */

/* row(buffer): the present values of the record. */
static PyObject *row(PyObject *object, PyObject *args)
{
  core_simulation *self = (core_simulation *)object;
  PyObject *target;
  Py_buffer view;
  if (!PyArg_ParseTuple(args, "O", &target)) return NULL;
  if (PyObject_GetBuffer(target, &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)) return NULL;
  const int fits = view.len == (Py_ssize_t)sizeof(double) * pol_record_count(self->record);
  if (fits) pol_record_row(self->record, view.buf);
  PyBuffer_Release(&view);
  if (!fits)
    return PyErr_Format(PyExc_ValueError, "a row has %d numbers", pol_record_count(self->record));
  Py_RETURN_NONE;
}

/* [(name, unit, group, owner, quantity)] */
static PyObject *channels(PyObject *object, PyObject *none)
{
  core_simulation *self = (core_simulation *)object;
  (void)none;
  const int count = pol_record_count(self->record);
  PyObject *list = PyList_New(count);
  for (int i = 0; list && i < count; i++) {
    const pol_channel *c = pol_record_channel(self->record, i);
    PyList_SetItem(list, i,
                   Py_BuildValue("(sssss)", c->name, c->unit, c->group, c->owner, c->quantity));
  }
  return list;
}

/* view(name): numbers of the state without a copy, those of now until the next step. */
static PyObject *view(PyObject *object, PyObject *args)
{
  core_simulation *self = (core_simulation *)object;
  const pol_state *state = pol_simulation_state(self->simulation);
  const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(self->simulation));
  const char *name;
  if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
  const struct {
    const char *name;
    const double *data;
    int size;
  } all[] = {{"q", state->q, dae->group.nq},
             {"v", state->v, dae->group.nv},
             {"acceleration", state->vd, dae->group.nv},
             {"multipliers", state->lambda, dae->num_holonomic + dae->num_nonholonomic}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (strcmp(all[i].name, name) == 0) return core_array_new(object, all[i].data, all[i].size, 0);
  return PyErr_Format(PyExc_KeyError, "%s", name);
}

/* body(index): the numbers of pol_body_state as bytes. */
static PyObject *body(PyObject *object, PyObject *args)
{
  core_simulation *self = (core_simulation *)object;
  pol_body_state state;
  int index;
  if (!PyArg_ParseTuple(args, "i", &index)) return NULL;
  if (pol_simulation_body(self->simulation, index, &state))
    return PyErr_Format(PyExc_IndexError, "there is no body %d", index);
  return PyBytes_FromStringAndSize((const char *)&state, (Py_ssize_t)sizeof state);
}

static PyObject *get_input(PyObject *object, PyObject *args)
{
  int index;
  if (!PyArg_ParseTuple(args, "i", &index)) return NULL;
  return PyFloat_FromDouble(pol_simulation_input(((core_simulation *)object)->simulation, index));
}

static PyObject *set_input(PyObject *object, PyObject *args)
{
  core_simulation *self = (core_simulation *)object;
  int index;
  double value;
  if (!PyArg_ParseTuple(args, "id", &index, &value)) return NULL;
  const pol_status status = pol_simulation_set_input(self->simulation, index, value);
  if (status == POL_BAD_ARGUMENT)
    return PyErr_Format(PyExc_ValueError, "the value of an input must be a finite number");
  if (status) return core_raise_failure(self->model, pol_simulation_diagnostics(self->simulation));
  Py_RETURN_NONE;
}

/* (t, finished, event) */
static PyObject *now(PyObject *object, PyObject *none)
{
  const pol_simulation *s = ((core_simulation *)object)->simulation;
  (void)none;
  return Py_BuildValue("(dNi)", pol_simulation_state(s)->t,
                       PyBool_FromLong(pol_simulation_finished(s)), pol_simulation_event_index(s));
}

static PyObject *summary(PyObject *object, PyObject *none)
{
  pol_simulation *s = ((core_simulation *)object)->simulation;
  (void)none;
  pol_simulation_review(s);
  const pol_summary *p = pol_simulation_summary(s);
  PyObject *warnings = PyList_New(p->num_warnings);
  for (int i = 0; warnings && i < p->num_warnings; i++)
    PyList_SetItem(warnings, i, Py_BuildValue("(ds)", p->warnings[i].t, p->warnings[i].message));
  return Py_BuildValue("{s:d, s:l, s:l, s:l, s:l, s:l, s:d, s:d, s:d, s:d, s:d, s:d, s:N}", "t",
                       p->t, "steps", p->counts.steps, "rejected", p->counts.rejected,
                       "newton_iterations", p->counts.newton_iterations, "jacobians",
                       p->counts.jacobians, "factorizations", p->counts.factorizations,
                       "kinetic_energy", p->energy.kinetic, "potential_energy", p->energy.potential,
                       "max_energy_drift", p->max_energy_drift, "energy_balance", p->energy_balance,
                       "max_position_residual", p->max_position_residual, "max_velocity_residual",
                       p->max_velocity_residual, "warnings", warnings);
}

/* --- saved states and files
 * ------------------------------------------------------------------------ */

static PyObject *save(PyObject *object, PyObject *none)
{
  core_simulation *self = (core_simulation *)object;
  size_t size = 0;
  (void)none;
  pol_status status = pol_simulation_save(self->simulation, NULL, &size);
  char *bytes = status ? NULL : malloc(size + 1);
  if (!status) status = bytes ? pol_simulation_save(self->simulation, bytes, &size) : POL_NO_MEMORY;
  PyObject *saved = NULL;
  if (status == POL_NO_MEMORY)
    PyErr_NoMemory();
  else if (status)
    PyErr_SetString(PyExc_RuntimeError, "a simulation that has failed cannot be saved");
  else
    saved = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
  free(bytes);
  return saved;
}

static PyObject *load(PyObject *object, PyObject *args)
{
  core_simulation *self = (core_simulation *)object;
  const char *bytes;
  Py_ssize_t size;
  char message[512] = "";
  if (!PyArg_ParseTuple(args, "y#", &bytes, &size)) return NULL;
  const pol_status status =
      pol_simulation_load(self->simulation, bytes, (size_t)size, message, sizeof message);
  if (status == POL_NO_MEMORY) return PyErr_NoMemory();
  if (status) return PyErr_Format(PyExc_ValueError, "%s", message);
  Py_RETURN_NONE;
}

/* open(path): rows are also written to a file from now on, the present one first. */
static PyObject *open_writer(PyObject *object, PyObject *args)
{
  core_simulation *self = (core_simulation *)object;
  const char *path, *settings;
  if (!PyArg_ParseTuple(args, "ss", &path, &settings)) return NULL;
  const size_t length = strlen(path);
  const int csv = length > 4 && strcmp(path + length - 4, ".csv") == 0;
  const pol_model *model = self->model->model;
  const pol_result_info info = {.name = model->name, .model = model->text, .settings = settings};
  pol_status status =
      pol_writer_create(&self->writer, path, csv ? POL_CSV : POL_HDF5, self->record, &info, 1);
  if (!status) status = pol_writer_write(self->writer);
  if (!status) Py_RETURN_NONE;
  if (self->writer) pol_writer_close(&self->writer, "failed", NULL);
  if (status == POL_NO_MEMORY) return PyErr_NoMemory();
  return PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
}

static PyObject *close_writer(PyObject *object, PyObject *args)
{
  core_simulation *self = (core_simulation *)object;
  const char *status, *failure;
  if (!PyArg_ParseTuple(args, "sz", &status, &failure)) return NULL;
  if (self->writer && pol_writer_close(&self->writer, status, failure)) {
    PyErr_SetString(PyExc_OSError, "the result could not be written completely");
    return NULL;
  }
  Py_RETURN_NONE;
}

int core_add_simulation(PyObject *module)
{
  static PyMethodDef methods[] = {
      {"step", step, METH_VARARGS, NULL},           {"advance", advance, METH_VARARGS, NULL},
      {"check", check, METH_VARARGS, NULL},         {"row", row, METH_VARARGS, NULL},
      {"channels", channels, METH_NOARGS, NULL},    {"view", view, METH_VARARGS, NULL},
      {"body", body, METH_VARARGS, NULL},           {"input", get_input, METH_VARARGS, NULL},
      {"set_input", set_input, METH_VARARGS, NULL}, {"now", now, METH_NOARGS, NULL},
      {"summary", summary, METH_NOARGS, NULL},      {"save", save, METH_NOARGS, NULL},
      {"load", load, METH_VARARGS, NULL},           {"open", open_writer, METH_VARARGS, NULL},
      {"close", close_writer, METH_VARARGS, NULL},  {NULL, NULL, 0, NULL},
  };
  PyType_Slot slots[] = {{Py_tp_new, (void *)new_simulation},
                         {Py_tp_dealloc, (void *)free_simulation},
                         {Py_tp_methods, methods},
                         {0, NULL}};
  PyType_Spec spec = {"polhode._core.Simulation", (int)sizeof(core_simulation), 0,
                      Py_TPFLAGS_DEFAULT, slots};
  core_simulation_type = (PyTypeObject *)PyType_FromSpec(&spec);
  return core_simulation_type ? PyModule_AddType(module, core_simulation_type) : -1;
}
