// Drawing modules of the installed environments by domain; docs/worlds.md describes their exports. A
// module that fails to load does not affect the others.

/** @type {Record<string, string>} */
const TEXTS = {}; // filled in by the server

/** @param {Record<string, string>} texts @returns {Promise<Drawings>} */
export async function loadDrawings(texts) {
  const names = Object.keys(texts);
  const modules = await Promise.all(names.map((name) => importDrawing(name, texts[name])));
  return new Map(names.map((name, i) => [name, modules[i]]));
}

/** @param {string} name @param {string} text @returns {Promise<Drawing | null>} */
async function importDrawing(name, text) {
  try {
    return await import(moduleUrl(text));
  } catch (error) {
    console.error(`the drawing module of ${name} failed to load: ${error}`);
    return null;
  }
}

// Served pages do not allow scripts from `data:`; pages opened from disk, and Node, cannot import
// blobs.
/** @param {string} text */
function moduleUrl(text) {
  if (globalThis.location?.protocol.startsWith("http")) {
    return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }
  return `data:text/javascript;charset=utf-8,${encodeURIComponent(text)}`;
}

export const drawings = await loadDrawings(TEXTS);
