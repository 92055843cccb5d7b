// Live parts: an element with data-live="2" asks its own hx-get every 2 seconds while its tab is seen. Nothing changed
// is 304 and leaves the page alone. Rows do not move under the pointer: they wait behind a button.
(() => {
  "use strict";
  const etags = new WeakMap();
  const due = new WeakMap();
  const failures = new WeakMap();
  const LONGEST_WAIT_SECONDS = 60;

  const isBusy = (part) =>
    part.matches(".list") && (part.querySelector("tbody tr:hover") || part.querySelector("tbody :focus"));

  // Somebody marks text in it, to copy it.
  const isMarked = (part) => {
    const marked = document.getSelection();
    return Boolean(marked && !marked.isCollapsed && part.contains(marked.anchorNode));
  };

  // A click is a press and a release on the same element, so nothing is swapped from under a pressed pointer.
  let pressed = null;
  let missed = null;
  let forgetting;
  document.addEventListener("pointerdown", (event) => {
    pressed = event.target;
    clearTimeout(forgetting);
    // A release outside of the window may never be told.
    forgetting = setTimeout(() => { pressed = null; }, 10_000);
  }, true);
  const release = () => {
    const isLeaving = pressed?.closest?.("a[href]");
    // After the click, which may have asked for something else.
    setTimeout(() => {
      pressed = null;
      if (missed?.isConnected && !isLeaving) htmx.trigger(missed, "submit");
      missed = null;
    });
  };
  document.addEventListener("pointerup", release, true);
  document.addEventListener("pointercancel", release, true);

  // What a person did to a part, to be done again to the one that takes its place.
  const TARGETS = "a[href], button, summary, input, select, textarea, [tabindex]";
  const rowWith = (part, key) => (key && part.querySelector(`tr[data-row="${CSS.escape(key)}"]`)) || part;
  // Rows come and go, so an element is known by what it is, and by its number among those that are the same.
  const nameOf = ({ tagName, href, name, value, textContent }) => [tagName, href, name, value, textContent].join("\n");
  const sameAs = (place, key) => [...place.querySelectorAll(TARGETS)].filter((each) => nameOf(each) === key);
  const stateOf = (part) => {
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    const row = focused?.closest("tr[data-row]");
    const key = focused && nameOf(focused);
    return {
      scrolls: [...part.querySelectorAll(".table-scroll")].map((box) => [box.scrollLeft, box.scrollTop]),
      open: [...part.querySelectorAll("details")].map((details) => details.open),
      row: row?.dataset.row,
      key,
      at: focused ? sameAs(row ?? part, key).indexOf(focused) : -1,
    };
  };
  const restore = (part, { scrolls, open, row, key, at }) => {
    [...part.querySelectorAll(".table-scroll")].forEach((box, number) => {
      if (scrolls[number]) [box.scrollLeft, box.scrollTop] = scrolls[number];
    });
    [...part.querySelectorAll("details")].forEach((details, number) => {
      if (open[number]) details.open = true;
    });
    if (at >= 0 && !part.contains(document.activeElement)) {
      sameAs(rowWith(part, row), key)[at]?.focus({ preventScroll: true });
    }
  };

  const tick = () => {
    if (document.hidden) return;
    const now = Date.now();
    for (const part of document.querySelectorAll("[data-live]")) {
      const interval = Number(part.dataset.live) || 2;
      if (!due.has(part)) due.set(part, now + interval * 1000);
      if (due.get(part) > now || part.classList.contains("htmx-request")) continue;
      const wait = Math.min(interval * 2 ** (failures.get(part) ?? 0), LONGEST_WAIT_SECONDS);
      due.set(part, now + wait * 1000);
      part.dispatchEvent(new CustomEvent("live"));
    }
  };

  // A question asked by the timer itself, not by a link or form that has the part as its target.
  const isLive = (event) => event.detail.elt?.matches?.("[data-live]") && event.detail.triggeringEvent?.type === "live";
  const asksItself = (detail) => detail.requestConfig?.triggeringEvent?.type === "live";

  document.addEventListener("htmx:configRequest", (event) => {
    if (!isLive(event)) return;
    const part = event.detail.elt;
    const etag = etags.get(part) ?? part.dataset.etag;
    // Set by us, so that the browser's own cache keeps out and a 304 arrives as one.
    if (etag) event.detail.headers["If-None-Match"] = etag;
  });

  document.addEventListener("htmx:afterRequest", (event) => {
    const { elt, failed, xhr } = event.detail;
    if (!elt.matches?.("[data-live]") || !asksItself(event.detail)) return;
    failures.set(elt, failed && xhr?.status !== 304 ? (failures.get(elt) ?? 0) + 1 : 0);
  });

  const rowsOf = (part) => [...part.querySelectorAll("tr[data-row]")];
  const keysOf = (part) => rowsOf(part).map((row) => row.dataset.row).join("\n");
  let before = null;
  let state = null;

  const remember = (part) => {
    before = new Map(rowsOf(part).map((row) => [row.dataset.row, row.dataset.version]));
    state = stateOf(part);
  };

  const offer = (part, answer, etag) => {
    const template = document.createElement("template");
    template.innerHTML = answer;
    const next = template.content.firstElementChild;
    if (!next || keysOf(next) === keysOf(part)) return false;
    etags.set(part, etag);
    let button = part.querySelector(".waiting");
    if (!button) {
      button = document.createElement("button");
      button.type = "button";
      button.className = "btn btn-sm waiting";
      part.prepend(button);
    }
    const known = new Set(keysOf(part).split("\n"));
    const count = rowsOf(next).filter((row) => !known.has(row.dataset.row)).length;
    const words = part.dataset.waiting ?? "%(count)s new · show";
    button.textContent = words.replace("%(count)s", String(count || "…"));
    button.onclick = () => {
      remember(part);
      htmx.swap(part, answer, { swapStyle: "outerHTML" });
    };
    return true;
  };

  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, xhr } = event.detail;
    if (!event.detail.shouldSwap || !target.matches?.("[data-live]")) return;
    if (target.contains(pressed)) {
      event.detail.shouldSwap = false;
      // The timer asks again by itself.
      missed = event.detail.requestConfig.elt.closest("form");
      return;
    }
    if (!asksItself(event.detail)) {
      // A filter or a choice of columns: other rows, from their start, but what was open stays so.
      before = null;
      state = { ...stateOf(target), scrolls: [] };
      return;
    }
    if (isMarked(target)) {
      event.detail.shouldSwap = false;
      return;
    }
    if (isBusy(target) && offer(target, xhr.responseText, xhr.getResponseHeader("ETag"))) {
      event.detail.shouldSwap = false;
      return;
    }
    remember(target);
  });

  document.addEventListener("htmx:afterSwap", (event) => {
    const part = document.getElementById(event.detail.target?.id ?? "");
    if (!state || !part?.matches("[data-live]")) return;
    restore(part, state);
    state = null;
    for (const row of before ? rowsOf(part) : []) {
      const { row: key, version } = row.dataset;
      if (!before.has(key) || before.get(key) !== version) row.classList.add("changed");
    }
    before = null;
  });

  setInterval(tick, 500);
  document.addEventListener("visibilitychange", tick);
})();
