// What pages keep in the browser that they are open in, and what they say when it is somebody else's.

// Whose page this is until it is loaded anew. Components may be mounted again in between, such as when
// a server has died, and by then another person's link may have been opened in this browser.
/** @param {string} author */
export const ownerOf = (author) => (window.stsOwner ??= author);

// localStorage, even where it is full and can only be read; where the browser allows none, a stand-in
// that refuses every write, so that nobody is told that it keeps what they do.
/** @returns {Kept} */
export function localStore() {
  try {
    void localStorage.length; // throws where it is forbidden, or is not there at all
    return localStorage;
  } catch {
    const setItem = () => {
      throw new Error("this browser allows no storage");
    };
    return { length: 0, key: () => null, getItem: () => null, setItem, removeItem: () => {} };
  }
}

// What was kept under a key, or null where there is nothing that can be read.
/** @param {Kept} store @param {string} key @returns {any} */
export function recall(store, key) {
  try {
    return JSON.parse(store.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

// Keeps a value where there is room; returns whether there was.
/** @param {Kept} store @param {string} key @param {any} value */
export function keep(store, key, value) {
  const text = JSON.stringify(value);
  try {
    if (store.getItem(key) !== text) store.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

// Says in place of a page that another person's link was opened in this browser.
/** @param {ParentNode} root @param {string} unsaved what of theirs waits here, such as "2 answers"; "" for nothing */
export function sayAnothersLink(root, unsaved) {
  const box = root.querySelector(".empty");
  /** @type {HTMLElement} */ (box).hidden = false;
  box.querySelector("h2").textContent = "Somebody else's link was opened in this browser";
  box.querySelector("p").textContent =
    (unsaved ? `${unsaved} of yours wait here, under your name. ` : "") +
    "To go on as yourself, open your own link again; to go on as the other person, reload this page.";
}

// Streamlit covers the page with a dialog when the connection is lost. Our pages say so themselves
// and can go on without it, so it is closed as soon as it opens.
/** @param {AbortSignal} signal */
export function closeConnectionDialogs(signal) {
  const watch = new MutationObserver(() => {
    /** @type {HTMLElement | null} */
    const told = document.querySelector("[data-test-connection-state]");
    const state = told?.dataset.testConnectionState;
    /** @type {HTMLElement | null} */
    const close = document.querySelector(".stDialog button[aria-label=Close]");
    if (state && state !== "CONNECTED") close?.click();
  });
  watch.observe(document.body, { childList: true, subtree: true });
  signal.addEventListener("abort", () => watch.disconnect());
}
