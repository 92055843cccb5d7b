// The frame's own behaviour: ages that count up, menus, preferences, keyboard and copying. Pages read well without it.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("has-script");

  const announce = (text) => {
    document.getElementById("announce").textContent = text;
  };

  // Ages. The same limits as ui.formatting.duration; counted from the server's clock.
  const skew = Date.parse(document.body.dataset.now) - Date.now();
  const [seconds, minutes, hours, days] = document.body.dataset.ageUnits.split("|");
  const units = [[86400, days], [3600, hours], [60, minutes]];
  const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const duration = (passed) => {
    for (const [size, text] of units) {
      if (passed >= 2 * size) return text.replace("%(count)s", grouped(Math.floor(passed / size)));
    }
    return seconds.replace("%(count)s", String(passed));
  };
  const age = (time) => {
    const passed = (Date.now() + skew - Date.parse(time.dateTime)) / 1000;
    const { ageAgo, ageAhead } = document.body.dataset;
    return passed < -1
      ? ageAhead.replace("%(duration)s", duration(Math.floor(-passed)))
      : ageAgo.replace("%(duration)s", duration(Math.max(0, Math.floor(passed))));
  };
  const countUp = () => {
    if (document.hidden) return;
    for (const time of document.querySelectorAll("time[data-age]")) {
      const text = age(time);
      if (time.textContent !== text) time.textContent = text;
    }
  };

  // What a live part shows holds for later and later moments while nothing changes; the freshness of the frame tells them.
  const observe = () => {
    for (const { value, dataset } of document.querySelectorAll("data[data-observed-at]")) {
      for (const time of document.querySelectorAll(`[data-observed="${CSS.escape(value)}"] time`)) {
        if (time.dateTime < dataset.observedAt) time.dateTime = dataset.observedAt;
      }
    }
  };

  // Exact times in the person's own zone, when that was chosen. The server writes UTC.
  const local = new Intl.DateTimeFormat(root.lang, {
    day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
    hourCycle: "h23", timeZoneName: "short",
  });
  const showTimes = (within) => {
    const isLocal = root.dataset.times === "local";
    for (const time of within.querySelectorAll("time[data-age], time[data-exact]")) {
      const isAge = "age" in time.dataset;
      time.dataset.utc ??= isAge ? time.title : time.textContent;
      const text = isLocal ? local.format(new Date(time.dateTime)) : time.dataset.utc;
      if (isAge) time.title = text;
      else time.textContent = text;
    }
  };

  // Preferences take effect at once; the form that would have gone to the server is the way without a script.
  const prefer = (name, value) => {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `dradash_${name}=${value}; path=/; max-age=31536000; samesite=lax${secure}`;
    if (name === "theme" && value === "auto") delete root.dataset.bsTheme;
    else root.dataset[name === "theme" ? "bsTheme" : name] = value;
    if (name === "times") showTimes(document);
    document.dispatchEvent(new CustomEvent("preference", { detail: { name, value } }));
  };
  document.addEventListener("submit", (event) => {
    const { preference } = event.target.dataset;
    if (!preference || !event.submitter) return;
    event.preventDefault();
    prefer(preference, event.submitter.value);
    for (const button of event.target.querySelectorAll("[aria-pressed]")) {
      button.setAttribute("aria-pressed", String(button === event.submitter));
    }
  });

  // Empty fields make no parameter, so that addresses stay short.
  document.addEventListener("htmx:configRequest", (event) => {
    if (!event.target.matches?.("[data-tidy]")) return;
    const { parameters } = event.detail;
    for (const [name, value] of Object.entries(parameters)) {
      if (value === "") delete parameters[name];
    }
  });

  // Browsers offer the clipboard on https and localhost alone; elsewhere a selected field is copied.
  const toClipboard = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "visually-hidden";
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  };
  const copy = async (button) => {
    await toClipboard(button.dataset.copy);
    button.classList.add("copied");
    announce(`${document.body.dataset.copied}: ${button.dataset.copy}`);
    setTimeout(() => button.classList.remove("copied"), 1200);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
    const opener = event.target.closest("[data-dialog]");
    if (opener) document.getElementById(opener.dataset.dialog).showModal();
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target) || opener) menu.open = false;
    }
  });

  const closeOpen = () => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
    const drawer = document.getElementById("nav-open");
    if (drawer) drawer.checked = false;
    const figure = document.activeElement?.closest(".figure-value") ?? document.querySelector(".figure-value:hover");
    if (figure) {
      figure.classList.add("dismissed");
      figure.addEventListener("mouseleave", () => figure.classList.remove("dismissed"), { once: true });
      figure.addEventListener("blur", () => figure.classList.remove("dismissed"), { once: true });
    }
  };

  const stepRow = (step) => {
    const rows = [...document.querySelectorAll("main .list-table > tbody > tr")];
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step];
    next?.querySelector("a, button")?.focus();
  };

  let isGoing = 0;
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeOpen();
    const isTyping = event.target.closest?.("input, select, textarea, dialog[open], [contenteditable]");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (Date.now() - isGoing < 1500) {
      isGoing = 0;
      const link = document.querySelector(`.nav-entry[data-key="${CSS.escape(event.key)}"]`);
      if (link) return link.click();
    }
    const actions = {
      "/": () => document.getElementById("search")?.focus(),
      "f": () => document.querySelector("[data-filter-box]")?.focus(),
      "j": () => stepRow(1),
      "k": () => stepRow(-1),
      "?": () => document.getElementById("keys")?.showModal(),
      "g": () => { isGoing = Date.now(); },
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  setInterval(countUp, 1000);
  document.addEventListener("visibilitychange", countUp);
  document.addEventListener("htmx:load", (event) => { showTimes(event.target); observe(); countUp(); });
  showTimes(document);
})();
