// The state of the server on the page, as its events tell it.

let state = null, events = null;

const headlines = {
  waiting: 'Waiting for the first run', running: 'Running', done: 'Done', failed: 'The simulation failed', interrupted: 'Stopped',
  invalid: 'The model has errors', crashed: 'The run broke off',
};

function seconds(x) {
  return x < 10 ? `${x.toFixed(2)} s` : x < 100 ? `${x.toFixed(1)} s` : `${Math.round(x)} s`;
}

function showFailure(failure) {
  $('failure').hidden = !failure;
  if (!failure) return;
  const parts = [['Why', failure.message], ['When', `t = ${Number(failure.t.toPrecision(8))} s${failure.step > 0 ? `, step ${failure.step}, step size ${Number(failure.h.toPrecision(4))} s` : ', initial values'}`],
    ['Where', failure.where], ['Try', failure.advice]];
  $('failure').replaceChildren(...parts.filter(([, text]) => text).flatMap(([name, text]) => [element('dt', name), element('dd', text)]));
}

function showErrorList() {
  const list = state.report.errors || [];
  $('errors').hidden = list.length === 0 || Boolean(state.report.failure);
  $('errors').replaceChildren(...list.slice(0, 50).map((error) => {
    const item = element('li'), line = lineOf(error), file = fileOf(state, error);
    if (line > 0) {
      const place = element('button', `${file === 0 ? state.file : state.files[file].name}, line ${line}`);
      place.type = 'button';
      place.addEventListener('click', () => openSource(state, file, line));
      item.append(place);
    }
    item.append(errorText(error));
    return item;
  }));
  if (list.length > 50) $('errors').append(element('li', `and ${list.length - 50} more`));
}

/** What became of the run.  While the next one is under way that of the last stays, but for the headline. */
function showOutcome() {
  const { report, status } = state, errors = (report.errors || []).length;
  $('status').dataset.status = status;
  if (status !== 'running') $('status').textContent = status;
  $('stop').disabled = status !== 'running';
  for (const name of ['outcome', 'code']) $(name).classList.toggle('old', status === 'running');
  $('bar').classList.toggle('unknown', status === 'running');
  $('bar-done').style.width = status === 'running' ? '' : '0';
  if (status === 'running') { $('status').textContent = 'running'; return; }
  $('headline').dataset.status = status;
  $('headline').textContent = status === 'invalid' && errors > 0 && !report.failure ? `${errors} error${errors === 1 ? '' : 's'} in the model` : headlines[status] + (status === 'done' ? ` in ${seconds(state.seconds)}` : '');
  $('verdict').textContent = report.verdict || report.message || '';
  showFailure(report.failure);
  showErrorList();
  const warnings = report.warnings || [];
  $('warnings').hidden = warnings.length === 0;
  $('warnings').replaceChildren(...warnings.map((text) => element('li', text)));
}

function showFiles() {
  $('files').replaceChildren(...state.files.map((file, index) => {
    const item = element('li'), name = index === 0 ? state.model : file.name, isText = index === 0 || file.path.endsWith('.json');
    const text = element(isText && file.exists ? 'button' : 'span', name, file.exists ? '' : 'gone');
    if (!file.exists) text.textContent += ' (missing)';
    if (isText && file.exists) text.addEventListener('click', () => { source.opened = false; openSource(state, index); });
    item.append(text);
    return item;
  }));
  $('download').hidden = !state.result;
  $('download').href = `result/${state.result}`;
  $('download').download = `${state.file.replace(/\.json$/, '')}.h5`;
}

/** Whether the view is of the last run, and of all of it. */
function showStale() {
  const { view, run, status } = state;
  let text = '';
  if (view && view.partial && status === 'running') text = 'Results so far';
  else if (view && view.run !== run && status !== 'running') text = 'Last result; the model has changed since';
  else if (view && view.run === run && (status === 'failed' || status === 'interrupted')) text = status === 'failed' ? 'Results up to the failure' : 'Results up to the stop';
  $('stale').hidden = !text;
  $('stale').textContent = text;
}

function takeState(event) {
  const last = state;
  state = JSON.parse(event.data);
  if (last && last.server !== state.server) { views.page = null; source.run = -1; } // its pages have the same names
  if (!views.shown) { $('title').textContent = state.file; document.title = `${state.file} \u2013 polhode`; }
  $('again').hidden = state.follows;
  $('rows').inert = state.follows;
  $('lost').firstChild.textContent = state.follows && state.status !== 'running' ? 'The run is over. ' : 'The server has ended. ';
  $('lost').classList.toggle('over', state.follows && state.status !== 'running');
  showOutcome();
  showFiles();
  showStale();
  showParameters(state);
  showErrors(state);
  if (state.view) loadView(state.view.page);
}

function takeProgress(event) {
  const progress = JSON.parse(event.data);
  if (!state || progress.run !== state.run || state.status !== 'running') return;
  const percent = Math.floor(100 * progress.share), known = progress.share > 0;
  $('bar').classList.toggle('unknown', !known);
  $('bar-done').style.width = known ? `${100 * progress.share}%` : '';
  $('bar').setAttribute('aria-valuenow', String(percent));
  const left = known && progress.seconds > 1 ? `, ${seconds((progress.seconds * (1 - progress.share)) / progress.share)} left` : '';
  $('status').textContent = known ? `running ${percent} %${left}` : progress.stage || 'running';
}

/** Listens while the page is seen: a browser allows few connections to one server. */
function listen() {
  if (document.hidden) { if (events) events.close(); events = null; return; }
  if (events) return;
  events = new EventSource('events');
  events.addEventListener('state', (event) => { $('lost').hidden = true; takeState(event); });
  events.addEventListener('progress', takeProgress);
  events.addEventListener('error', () => {
    $('lost').hidden = false;
    // some browsers give up where others try again
    if (events && events.readyState === EventSource.CLOSED) { events = null; setTimeout(listen, 1000); }
  });
}

$('again').addEventListener('click', () => post('run').catch(() => {}));
$('stop').addEventListener('click', () => post('stop').catch(() => {}));
$('source-button').addEventListener('click', () => { source.opened = false; if ($('source').hidden && state) openSource(state, source.file); else closeSource(); });
$('source-close').addEventListener('click', closeSource);
document.addEventListener('visibilitychange', listen);
setTheme(views.dark);
listen();
// for tests
window.polhodeServe = { state: () => state, views, viewer };
