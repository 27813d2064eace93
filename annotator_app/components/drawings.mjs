// What installed worlds draw, by the name of their domain: ES modules of theirs (docs/worlds.md says
// what such a module exports). One that does not load takes nothing from the others.

const TEXTS = {}; // written in by the server, from what is installed there

export async function loaded(texts) {
  const modules = Object.entries(texts).map(async ([name, text]) => [name, await moduleOf(name, text)]);
  return new Map(await Promise.all(modules));
}

async function moduleOf(name, text) {
  try {
    return await import(`data:text/javascript;charset=utf-8,${encodeURIComponent(text)}`);
  } catch (error) {
    console.error(`the drawing of ${name} does not load: ${error}`);
    return null;
  }
}

export const drawings = await loaded(TEXTS);
