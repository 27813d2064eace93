// Browser storage, and the notice for a page whose browser another person signed in on.

// Returns the person this page belongs to until it is reloaded. Components may be mounted again before
// that, for instance after a restart of the server, when another person may have signed in.
/** @param {string} author */
export const ownerOf = (author) => (window.stsOwner ??= author);

// Returns localStorage, even if it is full; if the browser blocks it, a substitute that rejects writes,
// so that pages can warn.
/** @returns {Kept} */
export function localStore() {
  try {
    void localStorage.length; // throws if storage is blocked or missing
    return localStorage;
  } catch {
    const setItem = () => {
      throw new Error("this browser allows no storage");
    };
    return { length: 0, key: () => null, getItem: () => null, setItem, removeItem: () => {} };
  }
}

// Returns the value stored under a key, or null if it is missing or unreadable.
/** @param {Kept} store @param {string} key @returns {any} */
export function recall(store, key) {
  try {
    return JSON.parse(store.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

// Stores a value; returns false if storage is full or blocked.
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

// Displays, instead of a page, that another person signed in on this browser.
/** @param {ParentNode} root @param {string} unsaved such as "2 unsaved answers"; "" for none */
export function showOtherPerson(root, unsaved) {
  const box = root.querySelector(".empty");
  /** @type {HTMLElement} */ (box).hidden = false;
  box.querySelector("h2").textContent = "Another person signed in on this browser";
  box.querySelector("p").textContent =
    (unsaved ? `You have ${unsaved}, kept here under your name. ` : "") +
    "To continue as yourself, open your own invitation link again. To continue as the other person, reload this page.";
}

// Closes the dialog with which Streamlit covers the page when the connection is lost: our pages show
// that themselves and keep working.
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
