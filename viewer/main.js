// The start of the page.

function start() {
  const title = scene.title || 'polhode', name = title.charAt(0).toUpperCase() + title.slice(1);
  document.title = `${name} \u2013 polhode`;
  $('title').textContent = $('title').title = name;
  // parts that do not break, so that a narrow page shows none, or fewer, but no half ones
  const parts = [`${numBodies} ${numBodies === 1 ? 'body' : 'bodies'}`,
    `\u00b7 ${numFrames} ${numFrames === 1 ? 'frame' : 'frames'}`, `\u00b7 polhode ${scene.version}`];
  $('subtitle').textContent = '\u200b' + parts.map((part) => part.replace(/ /g, '\u00a0')).join(' ');
  $('scrub').max = String(numFrames - 1);
  $('plot').setAttribute('aria-valuemin', '0');
  $('plot').setAttribute('aria-valuemax', duration.toFixed(timeDigits));
  setPose(0);
  stage = new Stage($('view'));
  labels = new Labels($('labels'), stage);
  plot = new Plot($('plot'), $('cursor'), $('legend'), (time) => { pause(); seek(time); });
  stage.resize();
  stage.view.look('home');
  addCheckboxes();
  fillLists();
  $('follow').value = String(stage.view.followed);
  setSpeed(sensibleSpeed(stage.span));
  plot.add(firstQuantities());
  if (other) plot.add(plot.series.map((one) => `compared.${one.name}`));
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
  connect();
  plot.resize();
  $('arrows-row').hidden = true;
  publish();
  applySettings();
  draw();
  requestAnimationFrame(tick);
}

try {
  start();
} catch (error) {
  $('broken').hidden = false;
  $('broken').textContent = `The view cannot be shown: ${error.message}`;
  throw error;
}
