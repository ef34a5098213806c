// Draws the curves of every `.chart`; all else works without this file.
"use strict";

const palette = () => {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  return {
    curves: [...Array(8).keys()].map((number) => color(`--curve-${number}`)),
    ink: color("--ink"),
    line: color("--line"),
  };
};

const written = (_, value) => (value === null || value === undefined ? "–" : `${+value.toPrecision(4)}`);

function options(chart, place) {
  const { curves, ink, line } = palette();
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const series = [{ label: place.dataset.unit, value: written }];
  const bands = [];
  const data = [chart.x];
  chart.series.forEach((curve, number) => {
    const stroke = curves[number % curves.length];
    const dash = number < curves.length ? [] : [6, 4];
    const edge = { stroke: "transparent", points: { show: false }, spanGaps: true, label: "" };
    const at = series.length;
    series.push({ label: curve.label, stroke, dash, width: 2, spanGaps: true, value: written, points: { show: true, size: 7, fill: stroke } });
    series.push({ ...edge, class: "edge" }, { ...edge, class: "edge" });
    series.push({ label: "", class: "edge", stroke, width: 0, paths: () => null, points: { show: true, size: 9, width: 1.5, fill: "transparent" } });
    bands.push({ series: [at + 2, at + 1], fill: `color-mix(in srgb, ${stroke} 18%, transparent)` });
    data.push(curve.mean, curve.low, curve.high, curve.published);
  });
  const size = { width: place.clientWidth, height: Math.max(260, Math.min(440, place.clientWidth * 0.55)) };
  const axes = [{ ...axis, label: place.dataset.unit, labelSize: 24 }, { ...axis, label: place.dataset.score, labelSize: 24, size: 56 }];
  const reach = (_, low, high) => {
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    return [low - room, high + room];
  };
  const across = chart.x.length > 1 ? reach : chart.reach; // uPlot makes 0…2x of a single point x
  return [{ ...size, series, bands, axes, scales: { x: { time: false, range: across }, y: { range: reach } }, cursor: { points: { size: 8 } } }, data];
}

function draw(again) {
  for (const place of document.querySelectorAll(".chart")) {
    if (!again && place.querySelector(".uplot")) continue; // another part of the page was renewed
    place.replaceChildren();
    const [how, data] = options(JSON.parse(place.dataset.chart), place);
    new uPlot(how, data, place);
  }
}

let width = 0;
addEventListener("DOMContentLoaded", () => draw(true));
document.addEventListener("htmx:afterSwap", () => draw(false));
document.addEventListener("htmx:historyRestore", () => draw(true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(true));
addEventListener("resize", () => {
  if (innerWidth !== width) draw(true);
  width = innerWidth;
});

// A problem that is drawn, or a network that is read, takes seconds: say so, and say what failed.
document.addEventListener("htmx:responseError", (event) => {
  const page = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  const message = page.querySelector("main p")?.textContent ?? "this cannot be shown";
  document.querySelector("#problem-message")?.remove();
  const place = Object.assign(document.createElement("p"), { id: "problem-message", className: "failed", textContent: message });
  place.setAttribute("role", "alert");
  document.querySelector("h1").after(place);
});
document.addEventListener("htmx:beforeRequest", () => document.querySelector("#problem-message")?.remove());
