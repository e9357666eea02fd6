// Runs in every new document before its own scripts, in the page's world. What a page draws by chance follows
// from the visit's seed, the number of actions before, and the document's place: so equal visits draw alike, and
// two loads of a page, a page and its frames, and two of its frames do not.
function drawByChance(seed) {
  // FNV-1a, 32 bits, over UTF-16 code units.
  const hashOf = (text) => {
    let hash = 0x811c9dc5;
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    return hash >>> 0;
  };
  // Which frame of its page this is, as `0.2`: the third in the first; empty for the page itself.
  const place = () => {
    const way = [];
    for (let at = window; at !== at.parent; at = at.parent) {
      let index = 0;
      while (index < at.parent.length && at.parent[index] !== at) index += 1;
      way.unshift(index);
    }
    return way.join(".");
  };
  // The generator sfc32 of PractRand 0.95 (Chris Doty-Humphrey).
  let state = null;
  const WARM_UP = 12;
  const next = () => {
    if (state === null) begin(0);
    const [a, b, c, count] = state;
    const drawn = (a + b + count) | 0;
    state = [b ^ (b >>> 9), (c + (c << 3)) | 0, (((c << 21) | (c >>> 11)) + drawn) | 0, (count + 1) | 0];
    return drawn >>> 0;
  };
  const begin = (actions) => {
    const said = JSON.stringify([seed, actions, location.pathname, history.length, place()]);
    state = [hashOf(`a${said}`), hashOf(`b${said}`), hashOf(`c${said}`), 1];
    for (let round = 0; round < WARM_UP; round += 1) next();
  };
  // The session tells how many actions came before; of a window that a page opens, it cannot in time.
  addEventListener("stepmill-actions", (event) => {
    if (state === null) begin(event.detail);
  });
  // A float of 53 bits, as genrand_res53 of the Mersenne Twister.
  Math.random = function random() {
    const [high, low] = [next() >>> 5, next() >>> 6];
    return (high * 0x4000000 + low) / 0x20000000000000;
  };
  const fill = (bytes) => {
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = next() >>> 24;
    return bytes;
  };
  const { getRandomValues, randomUUID } = Crypto.prototype;
  Crypto.prototype.getRandomValues = function getRandomValues_(array) {
    getRandomValues.call(this, array); // refuses what is too long or no array of integers
    fill(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return array;
  };
  if (randomUUID)
    Crypto.prototype.randomUUID = function randomUUID_() {
      randomUUID.call(this);
      // RFC 9562, version 4.
      const bytes = fill(new Uint8Array(16));
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
      return [8, 12, 16, 20].reduceRight((text, at) => `${text.slice(0, at)}-${text.slice(at)}`, hex);
    };
}
