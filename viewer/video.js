// A video of the view as WebM.  Where the browser has an encoder for single pictures (WebCodecs), every picture of
// the video is drawn for its own time, so that it is smooth however long drawing takes; else the view is recorded
// while it plays.

const video = { running: false, stopped: false };
const videoRate = 30;

// --- the file (Matroska, RFC 9559; WebM is a part of it) -------------------------------------------

/** A number of `length` bytes, the highest first. */
function bigEndian(value, length) {
  return Uint8Array.from({ length }, (_, i) => Math.floor(value / 256 ** (length - 1 - i)) & 255);
}

/** An element: its identifier, the size in eight bytes, and what it holds: bytes, elements, text or a number. */
function element(id, ...parts) {
  const code = [24, 16, 8, 0].map((shift) => (id >>> shift) & 255), content = parts.map((part) =>
    (typeof part === 'string' ? new TextEncoder().encode(part) : typeof part === 'number' ? bigEndian(part, part < 65536 ? 2 : 6) : part));
  const size = content.reduce((sum, part) => sum + part.length, 0), head = [...code.slice(code.findIndex((x) => x > 0)), 1, ...bigEndian(size, 7)];
  const bytes = new Uint8Array(head.length + size);
  bytes.set(head);
  content.reduce((at, part) => { bytes.set(part, at); return at + part.length; }, head.length);
  return bytes;
}

/** Pictures in a file: [{bytes, time, key}], times in milliseconds.  A cluster starts with each key picture, and the
 * cues at the end say where, so that players can jump. */
function packVideo(pictures, codec, width, height) {
  const real = new DataView(new ArrayBuffer(8)), clusters = [], last = pictures[pictures.length - 1];
  real.setFloat64(0, last.time + 1000 / videoRate);
  for (const picture of pictures) {
    if (picture.key) clusters.push({ time: picture.time, blocks: [] });
    const { time, blocks } = clusters[clusters.length - 1];
    blocks.push(element(0xa3, Uint8Array.of(0x81), bigEndian(picture.time - time, 2), Uint8Array.of(picture.key ? 0x80 : 0), picture.bytes));
  }
  const about = element(0x1549a966, element(0x2ad7b1, 1e6), element(0x4d80, 'polhode'), element(0x5741, `polhode ${scene.version}`), element(0x4489, new Uint8Array(real.buffer)));
  const track = element(0x1654ae6b, element(0xae, element(0xd7, 1), element(0x73c5, 1), element(0x83, 1), element(0x86, codec),
    element(0x23e383, Math.round(1e9 / videoRate)), element(0xe0, element(0xb0, width), element(0xba, height))));
  const body = clusters.map(({ time, blocks }) => element(0x1f43b675, element(0xe7, time), ...blocks));
  let at = about.length + track.length;
  const cues = element(0x1c53bb6b, ...clusters.map(({ time }, i) => {
    const cue = element(0xbb, element(0xb3, time), element(0xb7, element(0xf7, 1), element(0xf1, at)));
    at += body[i].length;
    return cue;
  }));
  const head = element(0x1a45dfa3, element(0x4286, 1), element(0x42f7, 1), element(0x42f2, 4), element(0x42f3, 8), element(0x4282, 'webm'), element(0x4287, 2), element(0x4285, 2));
  return new Blob([head, element(0x18538067, about, track, ...body, cues)], { type: 'video/webm' });
}

// --- recording ------------------------------------------------------------------------------------

/** The encoder of the browser for pictures of this size: {codec, config}, or null. */
async function findEncoder(width, height) {
  if (typeof VideoEncoder === 'undefined') return null;
  for (const [name, codec] of [['V_VP9', 'vp09.00.51.08'], ['V_VP8', 'vp8']]) {
    const config = { codec, width, height, bitrate: 8e6, framerate: videoRate };
    const answer = await VideoEncoder.isConfigSupported(config).catch(() => null);
    if (answer && answer.supported) return { codec: name, config };
  }
  return null;
}

/** The view with its names on a canvas of its own, with even numbers of pixels, as encoders want them. */
function videoCanvas() {
  const canvas = document.createElement('canvas'), source = $('view'), c = canvas.getContext('2d');
  canvas.width = source.width & ~1;
  canvas.height = source.height & ~1;
  const copy = () => {
    draw();
    c.drawImage(source, 0, 0);
    if (stage.isShown('labels')) c.drawImage($('labels'), 0, 0, canvas.width, canvas.height);
  };
  return { canvas, copy };
}

/** Draws and encodes picture by picture. */
async function encodeVideo({ codec, config }, canvas, copy, length) {
  const pictures = [], count = Math.max(Math.round(length * videoRate), 2);
  let problem = null;
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      pictures.push({ bytes, time: Math.round(chunk.timestamp / 1000), key: chunk.type === 'key' });
    },
    error: (error) => { problem = error; },
  });
  encoder.configure(config);
  for (let i = 0; i < count && !video.stopped && !problem; i++) {
    seek(Math.min((i / videoRate) * player.speed, duration));
    copy();
    const picture = new VideoFrame(canvas, { timestamp: Math.round((1e6 * i) / videoRate), duration: Math.round(1e6 / videoRate) });
    encoder.encode(picture, { keyFrame: i % (2 * videoRate) === 0 });
    picture.close();
    do await new Promise(requestAnimationFrame); while (encoder.encodeQueueSize > 4 && !problem);
  }
  if (!problem) await encoder.flush();
  encoder.close();
  if (problem) throw problem;
  return packVideo(pictures, codec, config.width, config.height);
}

/** Records what is on the canvas while it plays, for browsers without such an encoder. */
function recordStream(canvas, copy, length) {
  if (typeof MediaRecorder === 'undefined' || !canvas.captureStream) throw new Error('this browser has no encoder');
  const type = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find((one) => MediaRecorder.isTypeSupported(one));
  const recorder = new MediaRecorder(canvas.captureStream(videoRate), { mimeType: type, videoBitsPerSecond: 8e6 }), chunks = [], start = performance.now();
  return new Promise((done, fail) => {
    recorder.ondataavailable = (event) => { if (event.data.size) chunks.push(event.data); };
    recorder.onerror = (event) => fail(event.error || new Error('the browser cannot record'));
    recorder.onstop = () => done(new Blob(chunks, { type: 'video/webm' }));
    recorder.start(500);
    const next = () => {
      const passed = (performance.now() - start) / 1000;
      seek(Math.min(passed * player.speed, duration));
      copy();
      if (passed < length && !video.stopped) requestAnimationFrame(next);
      else setTimeout(() => { if (recorder.state !== 'inactive') recorder.stop(); }, 200); // the last picture counts too
    };
    next();
  });
}

/** A WebM of the view from the start to the end at the chosen speed, `longest` seconds at most.  fine: with wide
 * shadows and dark corners. */
async function recordVideo(longest = 60, fine = !software) {
  const length = Math.min(duration / player.speed, longest), at = player.time;
  Object.assign(video, { running: true, stopped: false });
  pause();
  stage.setRatio(stage.fullRatio);
  stage.fine = fine;
  try {
    const { canvas, copy } = videoCanvas(), encoder = await findEncoder(canvas.width, canvas.height);
    return await (encoder ? encodeVideo(encoder, canvas, copy, length) : recordStream(canvas, copy, length));
  } finally {
    video.running = false;
    seek(at);
  }
}
