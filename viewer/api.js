// window.polhode: for tests, measurements and pages that hold this one.

/** What tests and other pages may ask and do. */
function publish() {
  window.polhode = {
    state: () => ({
      time: player.time, playing: player.playing, speed: player.speed, loop: player.loop, duration,
      frames: numFrames, frame: frameAt(player.time), bodies: numBodies, dark: stage.dark, followed: stage.view.followed,
      parallel: stage.view.parallel, opacity: stage.opacity, beams: beams.map((beam) => beam.name), flexible: flexibleBodies.map((part) => part.name), elasticColor: elastic.quantity, deformation: elastic.scale, polhode: stage.polhode.body, steady: stage.polhode.body >= 0 && stage.polhode.data.steady,
      span: stage.span, software, still: !player.dirty && stage.ratio === stage.stillRatio && stage.fine === !crowded,
      notice: $('notice').hidden ? '' : $('notice-text').textContent, gears: gearWheels.map((wheel) => wheel.teeth),
      positions: Array.from(pose.x), quaternions: Array.from(pose.q),
      camera: stage.camera.position.toArray().map((x, c) => x + origin[c]),
      target: stage.controls.target.toArray().map((x, c) => x + origin[c]), plotted: plot.series.map((one) => one.name),
      shown: [...stage.layers.values()].filter((layer) => layer.shown).map((layer) => layer.key),
      drawCalls: stage.calls.calls, triangles: stage.calls.triangles,
    }),
    play, pause, seek, step, setSpeed, setTheme, follow, look, resetView, setParallel, setOpacity, show: setShown, plot: addQuantity,
    polhode: choosePolhode, colorElastic, scaleElastic,
    /** Of a beam as drawn: the middle of each ring of its section, and its colour. */
    beam: (number) => {
      const mesh = stage.layers.get('bodies').parts.filter((part) => part.name === 'beam')[number], corners = beams[number].outline.length;
      const mean = (name) => { const { array } = mesh.geometry.attributes[name]; return Array.from({ length: array.length / (3 * corners) }, (_, ring) => [0, 1, 2].map((c) => { let sum = 0; for (let i = 0; i < corners; i++) sum += array[3 * (ring * corners + i) + c]; return sum / corners; })); };
      return { points: mean('position'), colors: mean('color') };
    },
    /** Of a flexible body as drawn: its points in the axes of its frame, their normals, and their colours. */
    flexible: (number) => {
      const mesh = stage.layers.get('bodies').parts.filter((part) => part.name === 'flexible')[number];
      const list = (name) => { const { array } = mesh.geometry.attributes[name]; return Array.from({ length: array.length / 3 }, (_, i) => Array.from(array.subarray(3 * i, 3 * i + 3))); };
      return { points: list('position'), normals: list('normal'), colors: list('color') };
    },
    replot: (names) => { plot.clear(); names.forEach(addQuantity); },
    /** The numbers of an axis of the plot. */
    tickTexts: (low, high, count) => { const { list, step } = ticks(low, high, count); return tickTexts(list, step); },
    /** Left end of the numbers and of the curves in the plot, in pixels. */
    plotMargins: () => [plot.numbersLeft, plot.left],
    setCamera: (position, target) => { stage.view.set(position, target); moved(); },
    /** Bytes of what the buttons save, in base64; of a video so many seconds. */
    save: async (kind, seconds = 2, fine = undefined) => {
      const blob = await { png: takePicture, webm: () => recordVideo(seconds, fine), glb: makeGltf }[kind]();
      return new Promise((done) => { const reader = new FileReader(); reader.onload = () => done(reader.result.split(',')[1]); reader.readAsDataURL(blob); });
    },
    address: addressOfView,
    pick: (x, y) => stage.pick(x, y),
    channels: () => [...channels.keys()],
    valueAt: (name, time) => valueAt(channels.get(name), time),
    /** Boxes of the names on the view: [[left, top, right, bottom]]. */
    labels: () => labels.boxes,
    /** What a layer is made of: [[name, copies]]. */
    drawn: (key) => (stage.layers.get(key).parts || []).map((part) => [part.name, part.count || 1]),
    /** Wheels with teeth now: centre, radius, and the angle of a tooth about z. */
    gears: () => gearWheels.map((wheel) => {
      const { marker } = wheel, tooth = turned(marker.body, turnedBy(marker.rotation, [Math.cos(wheel.phase), Math.sin(wheel.phase), 0]), [0, 0, 0]);
      return { teeth: wheel.teeth, radius: wheel.radius, center: pointOf(marker.body, marker.position, [0, 0, 0]), tooth: Math.atan2(tooth[1], tooth[0]) };
    }),
    /** The curve x on the ellipsoid x.Jx = 1 in principal axes, and in space, three numbers each. */
    poinsot: () => ({
      J: stage.polhode.data.J, x: Array.from(stage.polhode.data.x),
      space: Array.from({ length: numFrames }, (_, f) => stage.polhode.atFrame(f, new THREE.Vector3()).toArray()).flat(),
    }),
    /** Draws `count` frames spread over the whole time; the milliseconds of each, with the GPU done.  The
     * ratio of pixels is that of the screen, down to half of it while things move too slowly. */
    measure: (count, ratio = stage.fullRatio, fine = !software) => {
      stage.setRatio(ratio);
      stage.fine = fine;
      const gl = stage.renderer.getContext(), pixel = new Uint8Array(4), list = [];
      for (let i = 0; i < count; i++) {
        const start = performance.now();
        player.time = (duration * ((i * 7919) % count)) / count;
        draw();
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        list.push(performance.now() - start);
      }
      return list;
    },
    /** Scrubs for `count` ticks of the browser's clock; the milliseconds between them. */
    scrub: async (count) => {
      const list = [];
      for (let i = 0, last = 0; i <= count; i++) {
        const now = await new Promise(requestAnimationFrame);
        if (i > 0) list.push(now - last);
        last = now;
        seek((duration * ((i * 7919) % count)) / count);
      }
      return list;
    },
    /** The same without drawing: pose and matrices alone. */
    work: (count) => Array.from({ length: count }, (_, i) => {
      const start = performance.now();
      stage.setTime((duration * ((i * 7919) % count)) / count);
      return performance.now() - start;
    }),
  };
}
