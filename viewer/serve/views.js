// The viewer's page in a frame: a new result is loaded behind the old one, takes over what the user has set
// there, and then takes its place.

const views = { shown: null, page: null, loading: null, next: null, home: null, speed: 0, dark: matchMedia('(prefers-color-scheme: dark)').matches, wide: false };

/** window.polhode of a frame; null if the viewer could not start (the name is also that of an element). */
function apiOf(frame) {
  const api = frame && frame.contentWindow && frame.contentWindow.polhode;
  return api && typeof api.state === 'function' ? api : null;
}

/** The same of the frame that is shown. */
function viewer() {
  return apiOf(views.shown);
}

/** What the user has set in the viewer. */
function settingsOf(api) {
  const state = api.state();
  const still = views.home && state.camera.every((x, i) => x === views.home.camera[i]) && state.target.every((x, i) => x === views.home.target[i]);
  return { ...state, moved: !still, speed: state.speed !== views.speed ? state.speed : 0 };
}

/** Where a page begins, to tell later what the user has changed. */
function noteStart(fresh) {
  views.home = { camera: fresh.camera, target: fresh.target };
}

/** Fits the scene into a frame that has another size now, unless the user has chosen a view. */
function refitView() {
  const api = viewer();
  if (!api || settingsOf(api).moved || api.state().followed >= 0) return;
  const frame = views.shown.contentWindow;
  frame.addEventListener('resize', () => frame.requestAnimationFrame(() => frame.requestAnimationFrame(() => {
    api.look('home');
    noteStart(api.state());
  })), { once: true });
}

/** The same in a page of another result of the model, as far as it has the same things. */
function carryOver(api, old) {
  const fresh = api.state(), same = fresh.bodies === old.bodies, names = api.channels();
  noteStart(fresh);
  views.speed = fresh.speed;
  if (old.speed) api.setSpeed(old.speed);
  for (const key of old.shown) if (!fresh.shown.includes(key)) api.show(key, true);
  for (const key of fresh.shown) if (!old.shown.includes(key)) api.show(key, false);
  const plotted = old.plotted.filter((name) => names.includes(name));
  api.replot(plotted);
  if (old.parallel) api.setParallel(true);
  if (same && old.polhode >= 0) api.polhode(old.polhode);
  api.setOpacity(old.opacity);
  if (same && old.followed >= 0) api.follow(old.followed);
  if (old.moved) api.setCamera(old.camera, old.target);
  api.seek(old.time);
  if (old.playing) api.play();
  else api.pause();
}

function setTheme(dark) {
  views.dark = dark;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  $('theme').setAttribute('aria-pressed', String(dark));
  if (viewer()) viewer().setTheme(dark);
}

/** The header of the viewer is that of this page, with its buttons. */
function join(frame) {
  const inner = frame.contentDocument;
  const style = inner.createElement('style');
  style.textContent = 'body > header { display: none; }';
  inner.head.append(style);
  if (views.wide) inner.getElementById('panel').click();
  // the keys D and P work in the frame
  new MutationObserver(() => {
    const dark = inner.documentElement.dataset.theme === 'dark';
    if (frame === views.shown && dark !== views.dark) setTheme(dark);
  }).observe(inner.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  new MutationObserver(() => {
    if (frame !== views.shown) return;
    views.wide = inner.body.classList.contains('wide');
    $('panel').setAttribute('aria-pressed', String(!views.wide));
  }).observe(inner.body, { attributes: true, attributeFilter: ['class'] });
}

function finishLoading(frame, page) {
  views.loading = null;
  const api = apiOf(frame);
  if (frame.contentDocument && frame.contentDocument.getElementById('stage')) {
    join(frame);
    // without 3D graphics the viewer says so, and has no functions
    if (api) api.setTheme(views.dark);
    else frame.contentDocument.documentElement.dataset.theme = views.dark ? 'dark' : 'light';
    if (api && viewer()) carryOver(api, settingsOf(viewer()));
    else if (api) { noteStart(api.state()); views.speed = api.state().speed; }
    if (views.shown) views.shown.remove();
    frame.classList.remove('loading');
    views.shown = frame;
    views.page = page;
    $('empty').hidden = true;
    $('subtitle').textContent = frame.contentDocument.getElementById('subtitle').textContent;
    $('title').textContent = $('title').title = frame.contentDocument.getElementById('title').textContent;
    document.title = frame.contentDocument.title;
  } else {
    frame.remove(); // replaced by a newer one before it was loaded
  }
  if (views.next && views.next !== views.page) loadView(views.next);
}

/** Loads a page; while one loads, only the newest of those that come is kept. */
function loadView(page) {
  if (page === views.page || page === views.loading) { views.next = null; return; }
  if (views.loading) { views.next = page; return; }
  views.next = null;
  views.loading = page;
  const frame = element('iframe', undefined, 'loading');
  frame.title = 'Animation and plots';
  frame.addEventListener('load', () => finishLoading(frame, page), { once: true });
  frame.src = `view/${page}`;
  $('frames').prepend(frame);
}

for (const name of ['help-button', 'panel'])
  $(name).addEventListener('click', () => { if (views.shown) views.shown.contentDocument.getElementById(name).click(); });
$('theme').addEventListener('click', () => setTheme(!views.dark));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => setTheme(event.matches));
