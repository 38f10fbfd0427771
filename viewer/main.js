// The start of the page.

function start() {
  const title = scene.title || 'polhode', name = title.charAt(0).toUpperCase() + title.slice(1);
  document.title = `${name} \u2013 polhode`;
  $('title').textContent = $('title').title = name;
  $('subtitle').textContent = `${numBodies} ${numBodies === 1 ? 'body' : 'bodies'}, ${numFrames} ${numFrames === 1 ? 'frame' : 'frames'}, polhode ${scene.version}`;
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
