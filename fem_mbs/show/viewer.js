"use strict";
// The viewer of a model and its results: reads the JSON of the page, keeps positions of the nodes at the shown frame,
// and draws surfaces, lines, points and labels. Lengths are in metres, about the origin of the data.
(function () {
  const D = JSON.parse(document.getElementById("data").textContent);
  const el = (id) => document.getElementById(id);
  const make = (tag, parent, text) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    parent.appendChild(made);
    return made;
  };
  const gl = el("view").getContext("webgl2", { alpha: false, antialias: true, preserveDrawingBuffer: true });
  const over = el("over").getContext("2d");
  if (!gl) { el("error").style.display = "block"; return; }

  // ------------------------------------------------------------------------------------------------ data
  const TYPES = { f4: Float32Array, f8: Float64Array, i4: Int32Array };
  function array(packed) {
    if (!packed) return null;
    const text = atob(packed.data), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new TYPES[packed.type](bytes.buffer);
  }
  const X = array(D.nodes.x), NUMBER = array(D.nodes.number), N = NUMBER.length;
  const TURN_OF = new Int32Array(N).fill(-1);
  const TURNING = array(D.nodes.turning);
  TURNING.forEach((node, k) => { TURN_OF[node] = k; });
  const NAME_OF = new Map();
  D.names.forEach(([text, node]) => NAME_OF.set(node, NAME_OF.has(node) ? NAME_OF.get(node) + ", " + text : text));
  const lines = D.lines.map((b) => ({ ...b, cells: array(b.cells) }));
  const surface = D.surface && {
    vertices: array(D.surface.vertices), triangles: array(D.surface.triangles), part: array(D.surface.part),
    edges: array(D.surface.edges), sharp: array(D.surface.sharp), names: D.surface.names,
  };
  const meshes = D.meshes.map((m) => ({ ...m, vertices: array(m.vertices), triangles: array(m.triangles) }));
  const steps = D.steps.map((s) => ({
    ...s, times: array(s.times), u: array(s.u), turn: array(s.turn), u2: array(s.u_imaginary), turn2: array(s.turn_imaginary),
    rest: array(s.rest), restTurn: array(s.rest_turn),
    fields: s.fields.map((f) => ({
      ...f, surface: array(f.surface), lines: Object.fromEntries(Object.entries(f.lines).map(([k, v]) => [k, array(v)])),
    })),
  }));

  // ------------------------------------------------------------------------------------------------ state
  const P = new Float32Array(3 * N);            // positions now
  const R = new Float32Array(9 * TURNING.length); // rotations since the start, row by row
  const W = new Float32Array(3 * TURNING.length); // linear increments of rotations in shapes, about their state
  const state = { step: 0, frame: 0, phase: 0, scale: 1, playing: false, field: -1, layers: {} };
  const view = { target: [0, 0, 0], az: 0, el: 0, scale: 1, right: [1, 0, 0], up: [0, 1, 0], eye: [0, 0, 1] };

  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const add = (a, b, f) => [a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]];
  const size = (a) => Math.hypot(a[0], a[1], a[2]);
  const unit = (a) => { const l = size(a); return [a[0] / l, a[1] / l, a[2] / l]; };

  function rodrigues(x, y, z) {
    const t = Math.hypot(x, y, z), a = t < 1e-8 ? 1 : Math.sin(t) / t, b = t < 1e-8 ? 0.5 : (1 - Math.cos(t)) / (t * t);
    return [1 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y,
      b * x * y + a * z, 1 - b * (x * x + z * z), b * y * z - a * x,
      b * x * z - a * y, b * y * z + a * x, 1 - b * (x * x + y * y)];
  }
  function times3(A, B) {
    const C = new Array(9).fill(0);
    for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) for (let k = 0; k < 3; k++) C[3 * i + j] += A[3 * i + k] * B[3 * k + j];
    return C;
  }
  const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  function rotation(node) {
    const k = node < 0 ? -1 : TURN_OF[node];
    return k < 0 ? IDENTITY : R.subarray(9 * k, 9 * k + 9);
  }
  const turned = (M, v) => [M[0] * v[0] + M[1] * v[1] + M[2] * v[2], M[3] * v[0] + M[4] * v[1] + M[5] * v[2], M[6] * v[0] + M[7] * v[1] + M[8] * v[2]];
  function place(node, offset) {
    if (node < 0) return [offset[0] - D.origin[0], offset[1] - D.origin[1], offset[2] - D.origin[2]];
    const d = turned(rotation(node), offset);
    return [P[3 * node] + d[0], P[3 * node + 1] + d[1], P[3 * node + 2] + d[2]];
  }

  function pose() {
    const s = steps[state.step], f = state.frame, c = s.shapes ? Math.cos(state.phase) : 1, q = s.shapes ? Math.sin(state.phase) : 0;
    const from = 3 * N * f, k = state.scale;
    for (let i = 0; i < 3 * N; i++) {
      let u = c * s.u[from + i];
      if (s.u2) u -= q * s.u2[from + i];
      P[i] = X[i] + (s.rest ? s.rest[i] : 0) + k * u;
    }
    const T = TURNING.length;
    for (let i = 0; i < T; i++) {
      let M = IDENTITY;
      if (s.turn) {
        const at = 3 * (T * f + i), v = [0, 1, 2].map((j) => k * (c * s.turn[at + j] - (s.turn2 ? q * s.turn2[at + j] : 0)));
        M = rodrigues(v[0], v[1], v[2]);
        // real shapes are turned by Cayley vectors 2 tan(phi/2) e, complex ones hold the increments
        const phi = s.turn2 ? 0 : size(s.turn.subarray(at, at + 3)), linear = phi > 0 ? 2 * Math.tan(phi / 2) / phi : 1;
        W.set(v.map((x) => linear * x), 3 * i);
      }
      if (s.restTurn) M = times3(M, rodrigues(s.restTurn[3 * i], s.restTurn[3 * i + 1], s.restTurn[3 * i + 2]));
      R.set(M, 9 * i);
    }
  }

  // ------------------------------------------------------------------------------------------------ field
  const DISPLACEMENT = -2, NONE = -1;
  function amplitude(i) {
    const s = steps[state.step], at = 3 * (N * state.frame + i);
    let sum = 0;
    for (let j = 0; j < 3; j++) sum += s.u[at + j] ** 2 + (s.u2 ? s.u2[at + j] ** 2 : 0);
    return Math.sqrt(sum);
  }
  function range() {
    const s = steps[state.step];
    if (state.field === DISPLACEMENT) return [0, s.largest[s.shapes ? state.frame : 0] || 1];
    return s.fields[state.field].range;
  }
  function colourOf(value) {
    const f = steps[state.step].fields[state.field], map = D.maps[f && f.signed ? "signed" : "plain"], [lo, hi] = range();
    if (!isFinite(value)) return [170, 175, 182, 255];
    const t = Math.min(Math.max((value - lo) / (hi - lo), 0), 1) * (map.length - 1), i = Math.min(Math.floor(t), map.length - 2), r = t - i;
    return [0, 1, 2].map((j) => map[i][j] + r * (map[i + 1][j] - map[i][j])).concat(255);
  }
  function surfaceValues() {
    if (!surface || state.field === NONE) return null;
    const n = surface.vertices.length, found = new Float32Array(n);
    if (state.field === DISPLACEMENT) { for (let i = 0; i < n; i++) found[i] = amplitude(surface.vertices[i]); return found; }
    const f = steps[state.step].fields[state.field];
    return f.surface ? f.surface.subarray(n * state.frame, n * (state.frame + 1)) : null;
  }

  // ------------------------------------------------------------------------------------------------ WebGL
  function program(vertex, fragment) {
    const p = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const s = gl.createShader(kind);
      gl.shaderSource(s, "#version 300 es\nprecision highp float;\n" + text);
      gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
      gl.attachShader(p, s);
    }
    gl.linkProgram(p);
    return p;
  }
  const MESH = program(`
    in vec3 at; in vec4 tint; uniform mat4 M; out vec4 colour; out vec3 seen;
    void main() { gl_Position = M * vec4(at, 1.0); colour = tint; seen = at; }`, `
    in vec4 colour; in vec3 seen; uniform vec3 light; uniform vec3 eye; out vec4 result;
    void main() { vec3 n = normalize(cross(dFdx(seen), dFdy(seen))); if (dot(n, eye) < 0.0) n = -n;
      result = vec4(colour.rgb * (0.70 + 0.30 * clamp(dot(n, light), 0.0, 1.0)), colour.a); }`);
  const LINE = program(`
    in vec2 corner; in vec3 a; in vec3 b; in vec4 ca; in vec4 cb; in float width; uniform mat4 M; uniform vec2 pixels; uniform float lift; out vec4 colour;
    void main() { vec4 A = M * vec4(a, 1.0), B = M * vec4(b, 1.0); vec2 d = (B.xy - A.xy) * pixels;
      float l = length(d); vec2 n = l > 1e-6 ? vec2(-d.y, d.x) / l : vec2(0.0, 1.0); vec2 e = l > 1e-6 ? d / l : vec2(1.0, 0.0);
      vec4 p = corner.x < 0.5 ? A : B; p.xy += (n * corner.y + e * (corner.x - 0.5)) * width / pixels; p.z -= lift;
      gl_Position = p; colour = corner.x < 0.5 ? ca : cb; }`, `
    in vec4 colour; uniform float alpha; out vec4 result; void main() { result = vec4(colour.rgb, colour.a * alpha); }`);
  const POINT = program(`
    in vec3 at; in vec4 tint; in float width; uniform mat4 M; uniform float lift; out vec4 colour;
    void main() { gl_Position = M * vec4(at, 1.0); gl_Position.z -= lift; gl_PointSize = width; colour = tint; }`, `
    in vec4 colour; uniform float alpha; out vec4 result;
    void main() { float r = length(gl_PointCoord - 0.5); if (r > 0.5) discard; result = vec4(r > 0.36 ? colour.rgb : mix(colour.rgb, vec3(1.0), 0.25), colour.a * alpha); }`);
  const CORNERS = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, CORNERS);
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]), gl.STATIC_DRAW);

  // Records of one kind in a growing buffer: lines (a, b, both colours, width) or points (place, colour, width).
  class Batch {
    constructor(stride) { this.stride = stride; this.count = 0; this.room(64); this.buffer = gl.createBuffer(); }
    room(n) {
      const bigger = new ArrayBuffer(4 * this.stride * n);
      if (this.floats) new Float32Array(bigger).set(this.floats.subarray(0, this.count * this.stride));
      this.floats = new Float32Array(bigger); this.bytes = new Uint8Array(bigger); this.capacity = n;
    }
    slot() { if (this.count === this.capacity) this.room(2 * this.capacity); return this.stride * this.count++; }
    line(a, b, ca, cb, width) {
      const i = this.slot(), F = this.floats, B = this.bytes;
      F[i] = a[0]; F[i + 1] = a[1]; F[i + 2] = a[2]; F[i + 3] = b[0]; F[i + 4] = b[1]; F[i + 5] = b[2];
      for (let j = 0; j < 4; j++) { B[4 * (i + 6) + j] = ca[j]; B[4 * (i + 7) + j] = cb[j]; }
      F[i + 8] = width;
    }
    point(a, c, width) {
      const i = this.slot();
      this.floats.set(a, i);
      for (let j = 0; j < 4; j++) this.bytes[4 * (i + 3) + j] = c[j];
      this.floats[i + 4] = width;
    }
    send() { gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer); gl.bufferData(gl.ARRAY_BUFFER, this.floats.subarray(0, this.count * this.stride), gl.DYNAMIC_DRAW); }
    clear() { this.count = 0; }
  }
  function attributes(p, stride, table, divisor) {
    for (const [name, n, offset, bytes] of table) {
      const at = gl.getAttribLocation(p, name);
      if (at < 0) continue;
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, n, bytes ? gl.UNSIGNED_BYTE : gl.FLOAT, !!bytes, stride, offset);
      gl.vertexAttribDivisor(at, divisor);
    }
  }
  const wire = new Batch(9), marks = new Batch(9), dots = new Batch(5);
  function drawLines(batch, alpha, lift) {
    if (!batch.count) return;
    gl.useProgram(LINE);
    gl.uniformMatrix4fv(gl.getUniformLocation(LINE, "M"), false, matrix());
    gl.uniform2f(gl.getUniformLocation(LINE, "pixels"), gl.canvas.width, gl.canvas.height);
    gl.uniform1f(gl.getUniformLocation(LINE, "alpha"), alpha);
    gl.uniform1f(gl.getUniformLocation(LINE, "lift"), lift);
    gl.bindBuffer(gl.ARRAY_BUFFER, CORNERS);
    attributes(LINE, 8, [["corner", 2, 0]], 0);
    batch.send();
    attributes(LINE, 36, [["a", 3, 0], ["b", 3, 12], ["ca", 4, 24, 1], ["cb", 4, 28, 1], ["width", 1, 32]], 1);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, batch.count);
  }
  function drawPoints(batch, alpha, lift) {
    if (!batch.count) return;
    gl.useProgram(POINT);
    gl.uniformMatrix4fv(gl.getUniformLocation(POINT, "M"), false, matrix());
    gl.uniform1f(gl.getUniformLocation(POINT, "alpha"), alpha);
    gl.uniform1f(gl.getUniformLocation(POINT, "lift"), lift);
    batch.send();
    attributes(POINT, 20, [["at", 3, 0], ["tint", 4, 12, 1], ["width", 1, 16]], 0);
    gl.drawArrays(gl.POINTS, 0, batch.count);
  }
  class Faces {
    constructor(triangles) {
      this.n = triangles.length;
      this.index = gl.createBuffer(); this.at = gl.createBuffer(); this.tint = gl.createBuffer();
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.index);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(triangles), gl.STATIC_DRAW);
    }
    set(positions, colours) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.at); gl.bufferData(gl.ARRAY_BUFFER, positions, gl.DYNAMIC_DRAW);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.tint); gl.bufferData(gl.ARRAY_BUFFER, colours, gl.DYNAMIC_DRAW);
    }
    draw() {
      gl.useProgram(MESH);
      gl.uniformMatrix4fv(gl.getUniformLocation(MESH, "M"), false, matrix());
      const light = unit(add(add(view.eye, view.right, -0.5), view.up, 0.6));
      gl.uniform3f(gl.getUniformLocation(MESH, "light"), ...light);
      gl.uniform3f(gl.getUniformLocation(MESH, "eye"), ...view.eye);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.at); attributes(MESH, 12, [["at", 3, 0]], 0);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.tint); attributes(MESH, 4, [["tint", 4, 0, 1]], 0);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.index);
      gl.drawElements(gl.TRIANGLES, this.n, gl.UNSIGNED_INT, 0);
    }
  }
  const skin = surface && new Faces(surface.triangles);
  meshes.forEach((m) => { m.faces = new Faces(m.triangles); m.now = new Float32Array(m.vertices.length); });

  // ------------------------------------------------------------------------------------------------ camera
  let ratio = 1, width = 1, height = 1;
  function aim() {
    const [a, e] = [view.az, view.el].map((d) => d * Math.PI / 180);
    view.right = [-Math.sin(a), Math.cos(a), 0];
    view.eye = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
    view.up = cross(view.eye, view.right);
  }
  function matrix() {
    const { right: r, up: u, eye: d, target: t, scale: s } = view, w = s * width / height, z = 20 * D.size + 20 * s;
    return [r[0] / w, u[0] / s, -d[0] / z, 0, r[1] / w, u[1] / s, -d[1] / z, 0, r[2] / w, u[2] / s, -d[2] / z, 0,
      -dot(r, t) / w, -dot(u, t) / s, dot(d, t) / z, 1];
  }
  function screen(p) {
    const d = add(p, view.target, -1), k = 0.5 * height / view.scale;
    return [0.5 * width + k * dot(d, view.right), 0.5 * height - k * dot(d, view.up), dot(d, view.eye)];
  }
  // Let everything that moves through the frames of the step fill the window.
  function fit() {
    let low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    const s = steps[state.step], kept = state.frame, some = Math.min(s.shapes ? 1 : 16, s.times.length);
    const take = (p) => [view.right, view.up].forEach((axis, j) => {
      const v = dot(p, axis); low[j] = Math.min(low[j], v); high[j] = Math.max(high[j], v);
    });
    for (let k = 0; k < some; k++) {
      state.frame = some > 1 ? Math.round(k * (s.times.length - 1) / (some - 1)) : kept;
      pose();
      for (let i = 0; i < N; i++) take(P.subarray(3 * i, 3 * i + 3));
      D.bodies.forEach((b) => b.points.forEach((p) => take(place(b.node, p))));
      D.discs.forEach((d) => d.ring.forEach((p) => take(place(d.node, p))));
      D.symbols.forEach((t) => { if (state.layers[t.layer]) t.ends.forEach(([n, o]) => take(place(n, o))); });
      meshes.forEach((m) => { for (let i = 0; i < m.vertices.length; i += 3) take(place(m.node, m.vertices.subarray(i, i + 3))); });
    }
    state.frame = kept; pose();
    if (!isFinite(low[0])) return;
    const across = (high[0] - low[0]) / 2, tall = (high[1] - low[1]) / 2;
    const free = Math.max(width - 2 * Math.min(250, 0.25 * width), 0.4 * width);
    view.scale = 1.18 * Math.max(tall * height / Math.max(height - 120, 1), across * height / free, 1e-6 * D.size, 0.02 * D.size);
    const depth = dot(D.middle, view.eye);
    view.target = add(add([view.eye[0] * depth, view.eye[1] * depth, view.eye[2] * depth], view.right, (low[0] + high[0]) / 2), view.up, (low[1] + high[1]) / 2);
  }
  function look(az, elevation) { view.az = az; view.el = elevation; aim(); fit(); redraw(); }

  // ------------------------------------------------------------------------------------------------ symbols
  const rgba = (hex, a) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).concat(a === undefined ? 255 : a);
  function frameOf(axis) {
    const e3 = unit(axis), big = [0, 1, 2].reduce((m, j) => Math.abs(e3[j]) > Math.abs(e3[m]) + 1e-12 ? j : m, 0);
    const other = [0, 0, 0]; other[(big + 1) % 3] = 1;
    const e1 = unit(cross(other, e3)), e2 = cross(e3, e1);
    return [e1[0], e2[0], e3[0], e1[1], e2[1], e3[1], e1[2], e2[2], e3[2]];
  }
  // Axes of a face, or of an edge of the plane, in columns; as face_frame of fem_mbs/analysis/symbols/symbol.py.
  function faceFrame(places) {
    const along = add(places[1], places[0], -1), n = places.length > 2 ? cross(along, add(places[2], places[0], -1)) : [0, 0, 1];
    if (size(along) === 0 || size(n) === 0) return IDENTITY;
    const e1 = unit(along), e3 = unit(n), e2 = cross(e3, e1);
    return [e1[0], e2[0], e3[0], e1[1], e2[1], e3[1], e1[2], e2[2], e3[2]];
  }
  const flipped = (M) => [M[0], M[3], M[6], M[1], M[4], M[7], M[2], M[5], M[8]];
  const middleOf = (places) => [0, 1, 2].map((j) => places.reduce((sum, p) => sum + p[j], 0) / places.length);
  // Return the middle of the mark of a symbol, and its rotation since the start.
  function held(s) {
    const [node, offset] = s.ends[0];
    if (!s.face || !s.face.length) return [place(node, offset), rotation(node)];
    const now = s.face.map((i) => Array.from(P.subarray(3 * i, 3 * i + 3))), start = s.face.map((i) => Array.from(X.subarray(3 * i, 3 * i + 3)));
    const M = times3(faceFrame(now), flipped(faceFrame(start)));
    const from = add(add(Array.from(X.subarray(3 * node, 3 * node + 3)), offset, 1), middleOf(start), -1);
    return [add(middleOf(now), turned(M, from), 1), M];
  }
  // Return the polylines of a symbol now; `unitSize` is that of a mark of size one.  As in fem_mbs/plot/glyphs.py.
  function polylines(s, unitSize) {
    const g = D.glyphs[s.glyph], k = g.size * unitSize, at = s.ends.map(([n, o]) => place(n, o));
    if (at.length === 2 && g.link.length) {
      const along = add(at[1], at[0], -1);
      if (size(along) > 1e-3 * k) {
        let side = cross(view.eye, along);
        side = size(side) < 1e-6 * size(along) ? view.up : unit(side);
        return g.link.map((line) => line.map(([f, u]) => add(add(at[0], along, f), side, u * k)));
      }
    }
    let M = s.axis && size(s.axis) > 0 ? frameOf(s.axis) : IDENTITY;
    const [middle, turn] = held(s);
    if (s.turns) M = times3(turn, M);
    return g.mark.map((line) => line.map((p) => add(middle, turned(M, p), k)));
  }
  const DARK = rgba("#20242a"), BODY = rgba("#4a4f57"), PLAIN = rgba("#0072B2"), SURFACE = rgba("#8fb0cf"), NODE = rgba("#20242a", 200);
  const AXES = [rgba("#D55E00"), rgba("#009E73"), rgba("#0072B2")];

  // Return the tangent of a beam at a node. In shapes it is linear in the rotation, as displacements are: turned by a
  // large rotation, for example of twist, it would not fit the displaced nodes.
  function tangent(node, axis) {
    const s = steps[state.step], i = node < 0 ? -1 : TURN_OF[node];
    if (!s.shapes || !s.turn || i < 0) return turned(rotation(node), axis);
    const rest = s.restTurn ? turned(rodrigues(s.restTurn[3 * i], s.restTurn[3 * i + 1], s.restTurn[3 * i + 2]), axis) : axis;
    return add(rest, cross(W.subarray(3 * i, 3 * i + 3), rest), 1);
  }
  // Return the points of an element of a block of lines; beams are the cubics that their ends define.
  function curve(b, e) {
    const c = b.cells.subarray(b.k * e, b.k * (e + 1)), at = (i) => [P[3 * c[i]], P[3 * c[i] + 1], P[3 * c[i] + 2]];
    if (!b.beam) return Array.from(c, (_, i) => at(b.order[i]));
    const p = at(0), q = at(1), axis = [0, 1, 2].map((j) => X[3 * c[1] + j] - X[3 * c[0] + j]);
    const t = tangent(c[0], axis), r = tangent(c[1], axis), found = [], n = b.pieces;
    for (let i = 0; i <= n; i++) {
      const s = i / n, h = [1 - 3 * s * s + 2 * s ** 3, s - 2 * s * s + s ** 3, 3 * s * s - 2 * s ** 3, s ** 3 - s * s];
      found.push([0, 1, 2].map((j) => h[0] * p[j] + h[1] * t[j] + h[2] * q[j] + h[3] * r[j]));
    }
    return found;
  }
  function endValues(b, e) {
    if (state.field === NONE) return null;
    if (state.field === DISPLACEMENT) return [0, 1].map((i) => amplitude(b.cells[b.k * e + (b.k > 1 ? i : 0)]));
    const all = steps[state.step].fields[state.field].lines[b.name];
    if (!all) return null;
    const at = 2 * (all.length / 2 / steps[state.step].times.length * state.frame + e);
    return [all[at], all[at + 1]];
  }

  let shown = [];  // what can be picked: { at: [screen points], tip }
  let labels = [];
  function gather() {
    wire.clear(); marks.clear(); dots.clear(); shown = []; labels = [];
    const on = state.layers, values = surfaceValues();
    if (surface) {
      const n = surface.vertices.length, at = new Float32Array(3 * n), tint = new Uint8Array(4 * n);
      let top = -1;
      for (let i = 0; i < n; i++) {
        const node = surface.vertices[i];
        at[3 * i] = P[3 * node]; at[3 * i + 1] = P[3 * node + 1]; at[3 * i + 2] = P[3 * node + 2];
        tint.set(values ? colourOf(values[i]) : SURFACE, 4 * i);
        if (values && isFinite(values[i]) && (top < 0 || values[i] > values[top])) top = i;
      }
      skin.set(at, tint); surface.now = at; surface.values = values;
      if (on.edges) for (let e = 0; e < surface.edges.length; e += 2) {
        const sharp = surface.sharp[e / 2], colour = sharp ? DARK : rgba("#20242a", 70);
        const a = surface.edges[e], b = surface.edges[e + 1];
        wire.line(P.subarray(3 * a, 3 * a + 3), P.subarray(3 * b, 3 * b + 3), colour, colour, ratio * (sharp ? 1.2 : 0.8));
      }
      if (top >= 0 && on.surfaces && state.field !== NONE) {
        const p = at.subarray(3 * top, 3 * top + 3);
        dots.point(p, rgba("#D55E00"), 9 * ratio);
        labels.push([p, "max " + number(values[top]), "#a33f00"]);
      }
    }
    if (on.lines) for (const b of lines) for (let e = 0; e < b.cells.length / b.k; e++) {
      const points = curve(b, e), ends = endValues(b, e), n = points.length - 1;
      for (let i = 0; i < n; i++) {
        const c = ends ? [i, i + 1].map((k) => colourOf(ends[0] + (ends[1] - ends[0]) * k / n)) : [PLAIN, PLAIN];
        wire.line(points[i], points[i + 1], c[0], c[1], (ends ? 4 : 3) * ratio);
      }
      if (!n) dots.point(points[0], BODY, 8 * ratio);
    }
    if (on.bodies) for (const b of D.bodies) {
      const centre = place(b.node, [0, 0, 0]), points = b.points.map((p) => place(b.node, p));
      points.forEach((p, i) => {
        const from = points.length < 3 ? centre : points[(i + points.length - 1) % points.length];
        if (!b.mesh) wire.line(from, p, BODY, BODY, 4 * ratio);
      });
      dots.point(centre, BODY, 9 * ratio);
    }
    for (const d of D.discs) if (on.bodies) {
      const ring = d.ring.map((p) => place(d.node, p));
      for (let i = 1; i < ring.length; i++) wire.line(ring[i - 1], ring[i], BODY, BODY, 2 * ratio);
      wire.line(ring[0], ring[(ring.length - 1) / 2], BODY, BODY, ratio);
    }
    meshes.forEach((m) => {
      for (let i = 0; i < m.vertices.length; i += 3) m.now.set(place(m.node, m.vertices.subarray(i, i + 3)), i);
      const c = rgba(m.colour), tint = new Uint8Array(m.vertices.length / 3 * 4);
      for (let i = 0; i < tint.length; i++) tint[i] = c[i % 4];
      m.faces.set(m.now, tint);
    });
    const mark = 13 * view.scale / (0.5 * height);
    if (on.triads) for (const b of D.bodies) for (let j = 0; j < 3; j++) {
      const e = [b.axes[j], b.axes[3 + j], b.axes[6 + j]];
      marks.line(place(b.node, [0, 0, 0]), add(place(b.node, [0, 0, 0]), turned(rotation(b.node), e), 2.2 * mark), AXES[j], AXES[j], 2 * ratio);
    }
    const named = new Set();
    D.symbols.forEach((s) => {
      if (!on[s.layer]) return;
      const colour = rgba(D.colours[s.layer]);
      for (const line of polylines(s, mark)) for (let i = 1; i < line.length; i++) marks.line(line[i - 1], line[i], colour, colour, (s.glyph === "thread" ? 0.8 : 1.5) * ratio);
      if (on.labels && s.name && !named.has(s.name)) {
        named.add(s.name);
        const at = s.ends.map(([n, o]) => place(n, o));
        labels.push([at.length > 1 ? add(at[0], add(at[1], at[0], -1), 0.5) : at[0], s.name, D.colours[s.layer]]);
      }
    });
    if (on.nodes) for (let i = 0; i < N; i++) dots.point(P.subarray(3 * i, 3 * i + 3), NODE, 4 * ratio);
    if (on.labels) D.bodies.forEach((b) => labels.push([place(b.node, [0, 0, 0]), b.name, "#1d2126"]));
    if (on.names) D.names.forEach(([text, node]) => labels.push([P.subarray(3 * node, 3 * node + 3), text, "#6b3fa0"]));
    if (on.sets) D.sets.forEach((s) => {
      s.nodes.forEach((n) => dots.point(P.subarray(3 * n, 3 * n + 3), rgba("#CC79A7"), 5 * ratio));
      const m = s.nodes[Math.floor(s.nodes.length / 2)];
      labels.push([P.subarray(3 * m, 3 * m + 3), s.name, "#9c3f77"]);
    });
    if (on.numbers) for (let i = 0; i < Math.min(N, 600); i++) labels.push([P.subarray(3 * i, 3 * i + 3), String(NUMBER[i]), "#777"]);
  }

  // ------------------------------------------------------------------------------------------------ drawing
  let waiting = false;
  function redraw() { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); } }
  function draw() {
    ratio = window.devicePixelRatio || 1; width = window.innerWidth; height = window.innerHeight;
    for (const c of [gl.canvas, over.canvas]) {
      const w = Math.round(width * ratio), h = Math.round(height * ratio);
      if (c.width !== w || c.height !== h) { c.width = w; c.height = h; }
    }
    gather();
    gl.viewport(0, 0, gl.canvas.width, gl.canvas.height);
    gl.clearColor(1, 1, 1, 1); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST); gl.depthFunc(gl.LEQUAL);
    gl.enable(gl.BLEND); gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.enable(gl.POLYGON_OFFSET_FILL); gl.polygonOffset(1, 1);
    if (skin && state.layers.surfaces) skin.draw();
    if (state.layers.meshes) meshes.forEach((m) => m.faces.draw());
    gl.disable(gl.POLYGON_OFFSET_FILL);
    drawLines(wire, 1, 1e-5); drawPoints(dots, 1, 4e-5);
    drawLines(marks, 1, 4e-5);
    gl.disable(gl.DEPTH_TEST);  // what lies behind surfaces shows faintly
    drawLines(marks, 0.28, 0);
    overlay();
  }
  function overlay() {
    over.setTransform(ratio, 0, 0, ratio, 0, 0);
    over.clearRect(0, 0, width, height);
    over.font = "12px system-ui, 'DejaVu Sans', Arial, sans-serif";
    over.lineJoin = "round"; over.lineWidth = 3; over.textBaseline = "middle";
    const taken = [];
    for (const [p, text, colour] of labels) {
      const [x, y] = screen(p), w = over.measureText(text).width;
      let dy = -12;
      while (dy > -60 && taken.some((t) => x + 8 < t[2] && x + 8 + w > t[0] && Math.abs(y + dy - t[1]) < 13)) dy -= 13;
      taken.push([x + 8, y + dy, x + 8 + w]);
      over.strokeStyle = "rgba(255,255,255,0.9)"; over.strokeText(text, x + 8, y + dy);
      over.fillStyle = colour; over.fillText(text, x + 8, y + dy);
    }
    const o = [width - 60, height - 100];
    ["x", "y", "z"].forEach((letter, j) => {
      const d = [view.right[j], -view.up[j]];
      over.strokeStyle = over.fillStyle = `rgb(${AXES[j].slice(0, 3)})`; over.lineWidth = 2;
      over.beginPath(); over.moveTo(...o); over.lineTo(o[0] + 30 * d[0], o[1] + 30 * d[1]); over.stroke();
      over.fillText(letter, o[0] + 40 * d[0] - 3, o[1] + 40 * d[1]);
    });
    if (D.gravity && state.layers.loads) {
      const g = unit(D.gravity), d = [dot(g, view.right), -dot(g, view.up)];
      over.strokeStyle = over.fillStyle = D.colours.loads;
      over.beginPath(); over.moveTo(o[0] - 70, o[1]); over.lineTo(o[0] - 70 + 30 * d[0], o[1] + 30 * d[1]); over.stroke();
      for (const side of [4, -4]) { over.beginPath(); over.moveTo(o[0] - 70 + 30 * d[0], o[1] + 30 * d[1]); over.lineTo(o[0] - 70 + 22 * d[0] - side * d[1], o[1] + 22 * d[1] + side * d[0]); over.stroke(); }
      over.fillText("g " + number(size(D.gravity)), o[0] - 70 + 30 * d[0] + 5, o[1] + 30 * d[1]);
    }
  }

  // ------------------------------------------------------------------------------------------------ picking
  const number = (v) => {
    const size = Math.abs(v);
    return size === 0 ? "0" : size >= 1e5 || size < 1e-3 ? v.toExponential(3).replace("e+", "e") : Number(v.toPrecision(4)).toString();
  };
  function near(x, y, a, b) {
    const dx = b[0] - a[0], dy = b[1] - a[1], l = dx * dx + dy * dy;
    const t = l > 0 ? Math.min(Math.max(((x - a[0]) * dx + (y - a[1]) * dy) / l, 0), 1) : 0;
    return Math.hypot(x - a[0] - t * dx, y - a[1] - t * dy);
  }
  function nodeText(i) {
    const k = D.length.factor, p = [0, 1, 2].map((j) => number(k * (P[3 * i + j] + D.origin[j]))), words = NAME_OF.get(i);
    let text = `node ${NUMBER[i]}${words ? " (" + words + ")" : ""}\nat [${p.join(", ")}] ${D.length.unit}`;
    const shapes = steps[state.step].shapes;
    if (steps[state.step].moves) text += `\ndisplacement ${number((shapes ? 1 : k) * amplitude(i))}${shapes ? "" : " " + D.length.unit}`;
    return text;
  }
  function pick(x, y) {
    const mark = 13 * view.scale / (0.5 * height);
    let best = null, least = 9;
    for (const s of D.symbols) {
      if (!state.layers[s.layer]) continue;
      let d = Infinity;
      for (const line of polylines(s, mark)) for (let i = 1; i < line.length; i++) d = Math.min(d, near(x, y, screen(line[i - 1]), screen(line[i])));
      d += s.layer === "supports" || s.layer === "couplings" ? 3 : 0;
      if (d < least) { least = d; best = `${s.name ? s.name + ": " : ""}${s.kind}\n${s.text}${s.ends[0][0] >= 0 ? "\n" + nodeText(s.ends[0][0]).split("\n")[0] : ""}`; }
    }
    if (best && least < 5) return best;
    for (const b of D.bodies) if (state.layers.bodies) {
      const q = screen(place(b.node, [0, 0, 0]));
      if (Math.hypot(x - q[0], y - q[1]) < 8) return `${b.name}: rigid body\n${b.text}\n${nodeText(b.node)}`;
    }
    for (const d of D.discs) if (state.layers.bodies) {
      const ring = d.ring.map((p) => screen(place(d.node, p)));
      if (ring.some((q, i) => i > 0 && near(x, y, ring[i - 1], q) < 5)) return `${d.name}: disc\n${d.text}\n${nodeText(d.node)}`;
    }
    const face = under(x, y);
    let node = -1, close = 7;
    for (let i = 0; i < N; i++) {
      const q = screen(P.subarray(3 * i, 3 * i + 3)), d = Math.hypot(x - q[0], y - q[1]);
      if (d < close && (!face || q[2] > face.depth - 0.01 * D.size)) { close = d; node = i; }
    }
    if (best) return best;
    let found = node >= 0 ? nodeText(node) : null, closest = 6;
    if (state.layers.lines) for (const b of lines) for (let e = 0; e < b.cells.length / b.k; e++) {
      const points = curve(b, e).map(screen);
      for (let i = 1; i < points.length; i++) {
        const d = near(x, y, points[i - 1], points[i]);
        if (d < closest) {
          closest = d;
          const v = endValues(b, e);
          const told = v && isFinite(v[0]) ? `\n${label()}: ${number(v[0])} ... ${number(v[1])}` : "";
          found = `${b.name}: element ${e} (${b.type})${told}${node >= 0 ? "\n" + nodeText(node) : ""}`;
        }
      }
    }
    if (found) return found + (face && node >= 0 && face.value !== null ? `\n${label()}: ${number(face.value)}` : "");
    if (face) return `${face.name}${face.value === null ? "" : `\n${label()}: ${number(face.value)}`}${face.node >= 0 ? "\nnearest " + nodeText(face.node) : ""}`;
    for (const b of D.bodies) if (state.layers.bodies) {
      const centre = screen(place(b.node, [0, 0, 0]));
      if (b.points.some((p) => near(x, y, centre, screen(place(b.node, p))) < 6)) return `${b.name}: rigid body\n${b.text}`;
    }
    return null;
  }
  // Return the face under a point of the screen that is nearest to the eye.
  function under(x, y) {
    let best = null;
    const search = (at, triangles, tell) => {
      const n = at.length / 3, sx = new Float32Array(n), sy = new Float32Array(n), sz = new Float32Array(n);
      for (let i = 0; i < n; i++) { const q = screen(at.subarray(3 * i, 3 * i + 3)); sx[i] = q[0]; sy[i] = q[1]; sz[i] = q[2]; }
      for (let t = 0; t < triangles.length; t += 3) {
        const [a, b, c] = [triangles[t], triangles[t + 1], triangles[t + 2]];
        const area = (sx[b] - sx[a]) * (sy[c] - sy[a]) - (sx[c] - sx[a]) * (sy[b] - sy[a]);
        if (!area) continue;
        const v = ((x - sx[a]) * (sy[c] - sy[a]) - (sx[c] - sx[a]) * (y - sy[a])) / area;
        const w = ((sx[b] - sx[a]) * (y - sy[a]) - (x - sx[a]) * (sy[b] - sy[a])) / area;
        if (v < 0 || w < 0 || v + w > 1) continue;
        const depth = sz[a] + v * (sz[b] - sz[a]) + w * (sz[c] - sz[a]);
        if (!best || depth > best.depth) best = { depth, ...tell(t, [a, b, c], [1 - v - w, v, w]) };
      }
    };
    if (surface && surface.now && state.layers.surfaces) search(surface.now, surface.triangles, (t, corners, share) => {
      const near3 = corners[share.indexOf(Math.max(...share))], S = surface.values;
      const value = S ? corners.reduce((sum, c, j) => sum + share[j] * S[c], 0) : null;
      return { name: surface.names[surface.part[t / 3]], node: surface.vertices[near3], value };
    });
    if (state.layers.meshes) for (const m of meshes) search(m.now, m.triangles, () => ({ name: `${m.name}: rigid body`, node: m.node, value: null }));
    return best;
  }
  const label = () => state.field === DISPLACEMENT ? (steps[state.step].shapes ? "displacement of the shape" : `displacement [${D.length.unit}]`) : steps[state.step].fields[state.field].label;

  // ------------------------------------------------------------------------------------------------ panel
  const panel = el("panel");
  el("title").textContent = D.title;
  make("p", panel, D.told);
  const views = make("div", panel); views.className = "views";
  for (const [name, az, e] of [["fit", null, null], ["iso", -58, 22], ["x", 0, 0], ["y", -90, 0], ["z", -90, 90]]) {
    make("button", views, name).onclick = () => (az === null ? (fit(), redraw()) : look(az, e));
  }
  const stepBox = make("select", panel), fieldBox = make("select", panel);
  stepBox.title = "step"; fieldBox.title = "colour"; stepBox.id = "step"; fieldBox.id = "field";
  steps.forEach((s, i) => { make("option", stepBox, s.label).value = i; });
  stepBox.style.display = steps.length > 1 ? "" : "none";
  const scaleRow = make("label", panel, "displacements times "), scaleBox = make("input", scaleRow);
  scaleBox.type = "number"; scaleBox.step = "any"; scaleBox.id = "scale";
  const counts = {};
  D.symbols.forEach((s) => { counts[s.layer] = (counts[s.layer] || 0) + 1; });
  const boxes = [["surfaces", "surfaces", surface, true], ["edges", "edges of surfaces", surface, true], ["lines", "beams, trusses, cables", lines.length, true],
    ["bodies", "rigid bodies", D.bodies.length + D.discs.length, true], ["meshes", "shapes of bodies", meshes.length, true],
    ["triads", "axes of bodies", D.bodies.length, D.bodies.length <= 20],
    ...Object.entries(D.layers).map(([key, text]) => [key, text, counts[key] || (key === "loads" && D.gravity), key !== "sensors" && (counts[key] || 0) <= 400, D.colours[key]]),
    ["labels", "names of symbols and bodies", D.symbols.length + D.bodies.length, true], ["nodes", "nodes", N, N <= 60],
    ["numbers", "numbers of nodes", N, false], ["names", "names of nodes", D.names.length, D.names.length <= 12 && !D.bodies.length], ["sets", "sets", D.sets.length, false]];
  for (const [key, text, there, first, colour] of boxes) {
    state.layers[key] = !!there && first;
    if (!there) continue;
    const row = make("label", panel), box = make("input", row);
    box.type = "checkbox"; box.checked = state.layers[key]; box.id = "layer-" + key;
    if (colour) make("i", row).style.background = colour;
    row.appendChild(document.createTextNode(" " + text + (counts[key] ? ` (${counts[key]})` : "")));
    box.onchange = () => { state.layers[key] = box.checked; redraw(); };
  }
  D.notes.forEach((text) => make("p", panel, text));
  el("fold").onclick = () => { panel.classList.toggle("folded"); };
  if (window.innerWidth < 640) panel.classList.add("folded");

  function legend() {
    const box = el("legend");
    box.style.display = state.field === NONE ? "none" : "block";
    if (state.field === NONE) return;
    el("legend-title").textContent = label();
    const [lo, hi] = range(), numbers = box.querySelector(".numbers"), bar = box.querySelector("canvas"), c = bar.getContext("2d");
    numbers.textContent = "";
    const factor = state.field === DISPLACEMENT && !steps[state.step].shapes ? D.length.factor : 1;
    for (let i = 5; i >= 0; i--) make("span", numbers, number(factor * (lo + (hi - lo) * i / 5)));
    for (let i = 0; i < 256; i++) { const k = colourOf(hi - (hi - lo) * i / 255); c.fillStyle = `rgb(${k.slice(0, 3).map(Math.round)})`; c.fillRect(0, i, 1, 1); }
  }
  function chooseStep(i) {
    state.step = i; state.phase = 0; stepBox.value = i;
    const s = steps[i];
    state.frame = s.first;
    state.scale = s.scale; scaleBox.value = s.scale;
    fieldBox.textContent = "";
    make("option", fieldBox, "no colour").value = NONE;
    if (s.moves) make("option", fieldBox, "displacement").value = DISPLACEMENT;
    s.fields.forEach((f, k) => { make("option", fieldBox, f.label).value = k; });
    state.field = s.field; fieldBox.value = s.field;
    fieldBox.style.display = s.moves || s.fields.length ? "" : "none";
    scaleRow.style.display = s.moves ? "" : "none";
    el("bar").style.display = s.times.length > 1 || s.shapes ? "" : "none";
    el("slider").max = s.times.length - 1;
    frame(state.frame);
  }
  function frame(i) {
    state.frame = i; el("slider").value = i;
    el("time").textContent = steps[state.step].titles[i];
    pose(); legend(); redraw();
  }
  stepBox.onchange = () => chooseStep(Number(stepBox.value));
  fieldBox.onchange = () => { state.field = Number(fieldBox.value); legend(); redraw(); };
  scaleBox.oninput = () => { const v = Number(scaleBox.value); if (isFinite(v)) { state.scale = v; pose(); redraw(); } };
  el("slider").oninput = () => frame(Number(el("slider").value));
  let last = 0, clock = 0;
  function tick(now) {
    if (!state.playing) return;
    const s = steps[state.step], passed = Math.min((now - last) / 1000, 0.2);
    last = now;
    if (s.shapes) { state.phase = (state.phase + Math.PI * passed) % (2 * Math.PI); pose(); redraw(); }
    else {
      clock = (clock + passed) % s.seconds;
      const t = s.times[0] + (s.times[s.times.length - 1] - s.times[0]) * clock / s.seconds;
      let i = s.even ? Math.floor(clock / s.seconds * s.times.length) : 0;
      if (!s.even) while (i + 1 < s.times.length && s.times[i + 1] <= t) i++;
      if (i !== state.frame) frame(i);
    }
    requestAnimationFrame(tick);
  }
  function play() {
    state.playing = !state.playing;
    el("play").textContent = state.playing ? "stop" : "play";
    if (!state.playing) { return; }
    last = performance.now();
    const s = steps[state.step];
    clock = s.times.length > 1 ? s.seconds * state.frame / (s.times.length - 1) % s.seconds : 0;
    requestAnimationFrame(tick);
  }
  el("play").onclick = play;

  // ------------------------------------------------------------------------------------------------ mouse, keys
  const canvas = el("view"), pointers = new Map(), tip = el("tip");
  let spread = 0;
  function pan(dx, dy) {
    const k = view.scale / (0.5 * height);
    view.target = add(add(view.target, view.right, -dx * k), view.up, dy * k);
  }
  function zoom(factor, x, y) {
    const k = view.scale / (0.5 * height) * (1 - factor), dx = x - 0.5 * width, dy = y - 0.5 * height;
    view.target = add(add(view.target, view.right, dx * k), view.up, -dy * k);
    view.scale *= factor;
  }
  canvas.onpointerdown = (e) => { canvas.setPointerCapture(e.pointerId); pointers.set(e.pointerId, [e.clientX, e.clientY]); tip.style.display = "none"; };
  canvas.onpointerup = canvas.onpointercancel = (e) => { pointers.delete(e.pointerId); spread = 0; };
  canvas.onpointermove = (e) => {
    const before = pointers.get(e.pointerId);
    if (!before) { hover(e.clientX, e.clientY); return; }
    const [dx, dy] = [e.clientX - before[0], e.clientY - before[1]];
    pointers.set(e.pointerId, [e.clientX, e.clientY]);
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()], now = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (spread) zoom(spread / now, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      spread = now; pan(dx / 2, dy / 2);
    } else if (e.buttons & 6 || e.shiftKey || (D.flat && !e.altKey)) pan(dx, dy);
    else { view.az -= 0.4 * dx; view.el = Math.min(Math.max(view.el + 0.4 * dy, -90), 90); aim(); }
    redraw();
  };
  canvas.oncontextmenu = (e) => e.preventDefault();
  canvas.ondblclick = () => { fit(); redraw(); };
  canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(0.0012 * e.deltaY), e.clientX, e.clientY); redraw(); }, { passive: false });
  canvas.onpointerleave = () => { tip.style.display = "none"; };
  let asked = null;
  function hover(x, y) {
    const first = asked === null;
    asked = [x, y];
    if (first) requestAnimationFrame(() => {
      const [px, py] = asked, text = pick(px, py);
      asked = null;
      tip.style.display = text ? "block" : "none";
      tip.textContent = text || "";
      tip.style.left = Math.min(px + 14, width - 300) + "px"; tip.style.top = Math.min(py + 14, height - 110) + "px";
    });
  }
  window.onkeydown = (e) => {
    if (/INPUT|SELECT/.test(e.target.tagName) && e.target.type !== "checkbox" && e.target.type !== "range") return;
    const n = steps[state.step].times.length;
    if (e.key === " ") { play(); e.preventDefault(); }
    else if (e.key === "ArrowRight") frame((state.frame + 1) % n);
    else if (e.key === "ArrowLeft") frame((state.frame + n - 1) % n);
    else if (e.key === "f") { fit(); redraw(); }
  };
  window.onresize = redraw;

  width = window.innerWidth; height = window.innerHeight;
  chooseStep(D.first);
  look(D.flat ? -90 : -58, D.flat ? 90 : 22);
  // For tests and for scripts around the page.
  window.femMbs = { data: D, state, view, positions: P, pick, screen, frame, chooseStep, look, draw, place, play,
    line: (block, element) => curve(lines[block], element),
    field: (i) => { state.field = i; legend(); draw(); }, phase: (p) => { state.phase = p; pose(); draw(); } };
})();
