// History charts: stacked areas in the order of the legend, gaps left empty, marks as dashed lines, one cursor for all
// charts of a page; dragging sets the time range in the address. The same figures are in a table below each chart.
(() => {
  "use strict";
  const charts = new Map();
  const cursor = uPlot.sync("page");

  const colour = (name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const value = getComputedStyle(probe).color;
    probe.remove();
    return value;
  };

  const hatch = (context, line, ground) => {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const brush = tile.getContext("2d");
    brush.fillStyle = ground;
    brush.fillRect(0, 0, 8, 8);
    brush.strokeStyle = line;
    brush.lineWidth = 2.5;
    for (const shift of [-8, 0, 8]) {
      brush.beginPath();
      brush.moveTo(shift - 1, 9);
      brush.lineTo(shift + 9, -1);
      brush.stroke();
    }
    return context.createPattern(tile, "repeat");
  };

  // A value holds until the next; where that is not known, or there is none yet, its end has to be a point of its own,
  // or nothing would be drawn of it.
  const hold = ({ times, series, end, ...rest }) => {
    const latest = Math.min(end, Date.parse(document.body.dataset.now) / 1000);
    const held = { ...rest, end, times: [], series: series.map((each) => ({ ...each, values: [] })) };
    const put = (time, at) => {
      held.times.push(time);
      held.series.forEach(({ values }, number) => values.push(series[number].values[at]));
    };
    times.forEach((time, at) => {
      put(time, at);
      const isLast = at === times.length - 1;
      const isCut = series.some(({ values }) => values[at] !== null && values[at + 1] === null);
      const stop = isLast ? latest : times[at + 1] - 0.001;
      if ((isLast || isCut) && stop > time) put(stop, at);
    });
    return held;
  };

  // Each series stands on the sum of those before it; where one is not known, the sum is not either.
  const stack = (series) => {
    let sum = null;
    return series.map(({ values }) => {
      sum = values.map((value, at) =>
        value === null || (sum && sum[at] === null) ? null : value + (sum ? sum[at] : 0));
      return sum;
    });
  };

  const drawSpans = (content) => (plot) => {
    const { ctx, bbox } = plot;
    const at = (time) => Math.min(Math.max(plot.valToPos(time, "x", true), bbox.left), bbox.left + bbox.width);
    ctx.save();
    ctx.fillStyle = colour("--sunken");
    ctx.strokeStyle = colour("--state-unknown");
    ctx.setLineDash([4, 4]);
    for (const gap of content.gaps) {
      const [from, to] = [at(gap.from), at(gap.to)];
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
      ctx.strokeRect(from, bbox.top, to - from, bbox.height);
    }
    ctx.restore();
  };

  const drawMarks = (content) => (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = colour("--ink");
    ctx.lineWidth = devicePixelRatio * 1.5;
    ctx.setLineDash([5, 4]);
    for (const mark of content.marks) {
      const x = Math.round(plot.valToPos(mark.at, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };

  // The moment that the page is about: the edge of the picture, unless it shows an earlier time only.
  const drawMoment = ({ at }) => (plot) => {
    const { ctx, bbox } = plot;
    const x = at === null ? NaN : Math.round(plot.valToPos(at, "x", true));
    if (!(x >= bbox.left && x <= bbox.left + bbox.width + 1)) return;
    ctx.save();
    ctx.fillStyle = colour("--accent");
    const width = 3 * devicePixelRatio;
    ctx.fillRect(Math.min(x, bbox.left + bbox.width) - width, bbox.top, width, bbox.height);
    ctx.restore();
  };

  const zoom = (content) => (plot) => {
    const { left, width } = plot.select;
    if (width < 8 || content.zoom.length !== 2) return;
    const address = new URL(location.href);
    const [from, to] = content.zoom;
    const moment = (x) => new Date(plot.posToVal(x, "x") * 1000).toISOString().replace(/\.\d+Z/, "Z");
    address.searchParams.set(from, moment(left));
    address.searchParams.set(to, moment(left + width));
    address.searchParams.delete("range");
    location.assign(address);
  };

  const number = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const zone = () => (document.documentElement.dataset.times === "local" ? undefined : "UTC");

  const readOut = (content, box) => (plot) => {
    const legend = box.closest(".chart-card").querySelector(".legend");
    const at = plot.cursor.idx;
    const isOn = at !== null && at !== undefined && plot.cursor.left >= 0;
    for (const series of content.series) {
      const value = isOn ? series.values[at] : undefined;
      const shown = value === null ? box.dataset.unknown : value === undefined ? "" : number(value);
      legend.querySelector(`[data-code="${series.code}"] .legend-value`).textContent = shown;
    }
    const time = isOn
      ? new Intl.DateTimeFormat(document.documentElement.lang, {
          day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
          timeZone: zone(), timeZoneName: "short",
        }).format(new Date(content.times[at] * 1000))
      : "";
    legend.querySelector(".legend-time").textContent = time;
  };

  const axisTimes = (content) => (plot, splits) => {
    const isLong = content.end - content.start > 2 * 86400;
    const format = new Intl.DateTimeFormat(document.documentElement.lang, {
      ...(isLong ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
      timeZone: zone(),
    });
    return splits.map((split) => format.format(new Date(split * 1000)));
  };

  const options = (box, content) => {
    const stepped = uPlot.paths.stepped({ align: 1 });
    const grid = { stroke: colour("--line"), width: 1 };
    const axis = { stroke: colour("--muted"), grid, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const ground = colour("--hatch-ground");
    // Drawn from the top of the stack down, so that each area covers those above it no further than its own height.
    const series = content.series.map(({ code, label }) => ({
      label,
      paths: stepped,
      points: { show: false },
      width: 1,
      stroke: colour("--surface"),
      spanGaps: false,
      fill: (plot) => code === "blocked"
        ? hatch(plot.ctx, colour("--state-blocked"), ground)
        : colour(`--state-${code}`),
    })).reverse();
    return {
      width: box.clientWidth,
      height: box.clientHeight,
      legend: { show: false },
      padding: [10, 12, 0, 0],
      cursor: { sync: { key: cursor.key }, y: false, points: { show: false }, drag: { x: content.zoom.length === 2, y: false, setScale: false } },
      scales: {
        x: { time: true, range: () => [content.start, content.end] },
        y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.05)] },
      },
      axes: [{ ...axis, size: 28, values: axisTimes(content) }, { ...axis, size: 52, values: (_plot, splits) => splits.map((split) => (Number.isInteger(split) ? number(split) : "")) }],
      series: [{}, ...series],
      hooks: {
        drawClear: [drawSpans(content)],
        draw: [drawMarks(content), drawMoment(content)],
        setCursor: [readOut(content, box)],
        setSelect: [zoom(content)],
      },
    };
  };

  const draw = (box) => {
    charts.get(box)?.destroy();
    const content = hold(JSON.parse(document.getElementById(box.dataset.chart).textContent));
    const values = stack(content.series).reverse();
    charts.set(box, new uPlot(options(box, content), [content.times, ...values], box));
  };

  const drawAll = (within) => {
    for (const box of charts.keys()) {
      if (!box.isConnected) {
        charts.get(box).destroy();
        charts.delete(box);
      }
    }
    for (const box of within.querySelectorAll("[data-chart]")) {
      draw(box);
      sizes.observe(box);
    }
  };

  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const size = { width: target.clientWidth, height: target.clientHeight };
      const chart = charts.get(target);
      if (chart && (chart.width !== size.width || chart.height !== size.height)) chart.setSize(size);
    }
  });

  const redraw = () => { for (const box of charts.keys()) draw(box); };
  document.addEventListener("preference", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  document.addEventListener("htmx:afterSettle", (event) => drawAll(event.target.parentElement ?? document));
  drawAll(document);
})();
