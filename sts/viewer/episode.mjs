// One continuation as the page shows it, decoded once. Frame f (0..steps) is the scene before
// step f; frame `takeover` is the last one that was recorded, later ones are the continuation.
// A scene is one number per object, or a frame of a sprite, which is a picture of many frames.

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

function words(raw) {
  const view = new DataView(raw.buffer);
  return Uint16Array.from({ length: raw.length / 2 }, (_, i) => view.getUint16(2 * i, true));
}

/** @param {Payload} payload @returns {Episode} */
export function decode(payload) {
  const says = bytes(payload.says);
  const objects = payload.names.length;
  const speakers = payload.steps ? says.length / payload.steps : 0;
  const { sprites } = payload;
  const numbers = sprites ? null : words(bytes(payload.scene));
  const scenes = sprites ? sprites.reduce((sum, one) => sum + one.count, 0) : numbers.length / objects;
  if (scenes !== payload.steps + 1 || !Number.isInteger(speakers))
    throw new Error(`episode ${payload.id}: ${scenes} scenes for ${payload.steps} steps`);
  const utterances = [];
  for (let i = 0; i < says.length; i++)
    if (says[i])
      utterances.push({
        frame: Math.floor(i / speakers) + 1, // heard in the scene that the step leads to
        object: objects - speakers + (i % speakers),
        text: payload.tokens[says[i]],
      });
  for (const [step, who, text] of payload.texts ?? [])
    utterances.push({ frame: step + 1, object: objects - speakers + who, text });
  const scene = (frame) => numbers.subarray(frame * objects, (frame + 1) * objects);
  const instruction = payload.instructions.at(-1); // what is judged
  return { ...payload, instruction, scene: numbers && scene, utterances, length: payload.steps - payload.takeover };
}

// Finds the sprite of a frame: its position `at` and the `index` in it; null if there is none.
/** @param {Sprite[] | undefined | null} sprites @param {number} frame */
export function spriteOf(sprites, frame) {
  let index = frame;
  for (const [at, sprite] of (sprites ?? []).entries()) {
    if (index < sprite.count) return { ...sprite, at, index };
    index -= sprite.count;
  }
  return null;
}

// Returns the part of the timeline that a frame is in, and its position there.
/** @param {Episode} episode @param {number} frame */
export function placeOf(episode, frame) {
  const { takeover, length } = episode;
  if (frame < takeover) return ["context", `${count(takeover - frame, "step")} before takeover`];
  if (frame === takeover) return ["takeover", "judged from here on"];
  return ["continuation", `step ${frame - takeover} of ${length}`];
}

// The latest instruction given by a frame; null before the first. Instructions are sorted by step.
/** @param {{ instructions: Instruction[] }} episode @param {number} frame */
export function instructionAt({ instructions }, frame) {
  return instructions.filter(({ given_at }) => frame >= given_at).at(-1)?.text ?? null;
}

/** @param {number} n @param {string} noun */
export const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
