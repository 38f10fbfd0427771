// The files of the model with line numbers, and the errors at their lines.

const source = { file: 0, texts: new Map(), errors: [], marks: [], run: -1, opened: false, closed: false };

/** The place of an error's file in the list of the state; the model itself is the first. */
function fileOf(state, error) {
  const index = state.files.findIndex((file) => file.name === error.file && error.file !== '');
  return index < 0 ? 0 : index;
}

function lineOf(error) {
  if (error.line > 0) return error.line;
  const match = /^line (\d+)/.exec(error.path || '');
  return match ? Number(match[1]) : 0;
}

function errorText(error) {
  const place = error.element ? `${error.element}: ` : '';
  const path = /^line \d+/.test(error.path) ? '' : error.path;
  const value = error.value && error.value.length < 40 && !path.startsWith('--') ? ` (${error.value})` : '';
  const near = error.suggestion ? `; did you mean \u201c${error.suggestion}\u201d?` : '';
  return `${place}${path}${value}${path || value ? ': ' : ''}${error.rule}${near}`;
}

/** A line of JSON with keys, texts and numbers told apart. */
function colored(text) {
  const parts = [], pattern = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b/g;
  let last = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > last) parts.push(text.slice(last, match.index));
    parts.push(element('span', match[1] || match[0], match[2] ? 'k' : match[1] ? 's' : 'n'));
    if (match[2]) parts.push(match[2]);
    last = match.index + match[0].length;
  }
  parts.push(text.slice(last));
  return parts;
}

/** Which lines are shown: all, or in a long file those near marks and the start. */
function shownLines(count, marks) {
  const most = 2000, near = 40;
  const shown = new Uint8Array(count);
  if (count <= most) return shown.fill(1);
  for (const line of [1, ...marks.map((mark) => mark.line)]) shown.fill(1, Math.max(0, line - near), line + near);
  return shown;
}

/** Draws the file with marks [{line, text}]; goes to the first. */
function drawSource(text, marks) {
  const lines = text.split('\n'), shown = shownLines(lines.length, marks), nodes = [];
  const byLine = new Map();
  for (const mark of marks) byLine.set(Math.min(mark.line, lines.length), [...(byLine.get(Math.min(mark.line, lines.length)) || []), mark.text]);
  for (const message of byLine.get(0) || []) nodes.push(element('div', message, 'mark'));
  lines.forEach((content, index) => {
    if (!shown[index]) { if (index > 0 && shown[index - 1]) nodes.push(element('div', '\u22ef', 'gap')); return; }
    const line = element('div', undefined, 'line'), code = element('code');
    code.append(...colored(content));
    line.append(element('span', String(index + 1), 'number'), code);
    line.id = `line-${index + 1}`;
    nodes.push(line);
    const messages = byLine.get(index + 1);
    if (!messages) return;
    line.classList.add('wrong');
    for (const message of messages) nodes.push(element('div', message, 'mark'));
  });
  $('code').replaceChildren(...nodes);
  const first = $('code').querySelector('.wrong');
  if (first) $('code').scrollTop = first.offsetTop - $('code').offsetTop - 60;
}

function goToLine(line) {
  const target = document.getElementById(`line-${line}`);
  if (target) $('code').scrollTop = target.offsetTop - $('code').offsetTop - 60;
}

async function textOf(index) {
  const answer = await fetch(`source/${index}`);
  return answer.ok ? answer.text() : '';
}

/** The line of the model that gives an element of a failure its name: "joint 'tip', translation x". */
function lineOfName(text, where) {
  const name = /'([^']+)'/.exec(where || '');
  if (!name) return 0;
  const at = text.split('\n').findIndex((line) => line.includes(`"name": "${name[1]}"`) || line.includes(`"name":"${name[1]}"`));
  return at + 1;
}

/** Opens a file in the lower part of the page. */
async function openSource(state, index, line) {
  source.file = index;
  if ($('source').hidden) {
    $('source').hidden = false;
    refitView();
  }
  $('source-button').setAttribute('aria-pressed', 'true');
  showTabs(state);
  const text = await textOf(index);
  if (source.file !== index) return;
  const marks = source.errors.filter((error) => fileOf(state, error) === index).map((error) => ({ line: lineOf(error), text: errorText(error) }));
  const failure = state.report.failure;
  if (failure && index === 0 && state.status !== 'running' && !marks.length) {
    const at = lineOfName(text, failure.where);
    if (at) marks.push({ line: at, text: `${failure.message} (${failure.where})` });
  }
  drawSource(text, marks);
  if (line) goToLine(line);
}

function closeSource() {
  if (!$('source').hidden) refitView();
  $('source').hidden = true;
  $('source-button').setAttribute('aria-pressed', 'false');
}

function showTabs(state) {
  const texts = state.files.map((file, index) => ({ file, index })).filter(({ file, index }) => index === 0 || file.path.endsWith('.json'));
  $('tabs').replaceChildren(...texts.map(({ file, index }) => {
    const tab = element('button', index === 0 ? state.file : file.name), count = source.errors.filter((error) => fileOf(state, error) === index).length;
    tab.type = 'button';
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-selected', String(index === source.file));
    if (count) tab.append(element('span', String(count), 'count'));
    tab.addEventListener('click', () => openSource(state, index));
    return tab;
  }));
}

/** Errors of a run that has ended open the source; it closes when they are gone, unless it was opened by hand. */
function showErrors(state) {
  const ended = state.status !== 'running' && state.run !== source.run;
  if (!ended) return;
  source.run = state.run;
  source.errors = state.report.errors || [];
  if (source.errors.length > 0) {
    const first = source.errors.find((error) => lineOf(error) > 0) || source.errors[0];
    if ($('source').hidden) source.opened = true;
    openSource(state, fileOf(state, first));
  } else if (source.opened) {
    source.opened = false;
    closeSource();
  } else if (!$('source').hidden) {
    openSource(state, Math.min(source.file, state.files.length - 1));
  }
}
