// What installed worlds draw, by the name of their domain: ES modules of theirs (docs/worlds.md says
// what such a module exports). One that does not load takes nothing from the others.

/** @type {Record<string, string>} */
const TEXTS = {}; // written in by the server, from what is installed there

/** @param {Record<string, string>} texts @returns {Promise<Drawings>} */
export async function loaded(texts) {
  const names = Object.keys(texts);
  const modules = await Promise.all(names.map((name) => moduleOf(name, texts[name])));
  return new Map(names.map((name, i) => [name, modules[i]]));
}

/** @param {string} name @param {string} text @returns {Promise<Drawing | null>} */
async function moduleOf(name, text) {
  try {
    return await import(addressOf(text));
  } catch (error) {
    console.error(`the drawing of ${name} does not load: ${error}`);
    return null;
  }
}

// A page that is served lets no `data:` be a script; one that is opened from a disk has no blobs to
// import, and Node has none either.
/** @param {string} text */
function addressOf(text) {
  if (globalThis.location?.protocol.startsWith("http")) {
    return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }
  return `data:text/javascript;charset=utf-8,${encodeURIComponent(text)}`;
}

export const drawings = await loaded(TEXTS);
