// The page of the harbour's water: a map of the buoys and berths, and a chart of the water's level, which the
// server tells as it changes.
const { L, echarts } = globalThis;
const kinds = document.querySelector("#kind");
const form = document.querySelector("#buoy");
const told = document.querySelector("#told");
const threshold = document.querySelector("#threshold");
const map = L.map("map", { center: [0, 0], maxZoom: 3, minZoom: 1, zoom: 2, crs: L.CRS.Simple, zoomAnimation: false, fadeAnimation: false });
const chart = echarts.init(document.querySelector("#levels"), null, { renderer: "svg" });
const markers = L.layerGroup().addTo(map);
const levels = [];
let buoys = [];
let chosen = null;

L.tileLayer("/tiles/{z}/{x}/{y}.svg", { attribution: "Harbour office", bounds: [[-100, -120], [100, 120]] }).addTo(map);
L.geoJSON(await (await fetch("/quays.json")).json(), { style: { color: "#753", weight: 6 } }).addTo(map);
map.attributionControl.setPrefix(false);

async function ask(path, method, body) {
  const headers = { "Content-Type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers, method };
  const answer = await fetch(path, sent);
  return answer.json();
}

function label(name, kind, size) {
  return L.divIcon({ className: kind, html: name, iconSize: size });
}

async function showBuoys() {
  const found = await ask("/api/harbour");
  buoys = found.buoys;
  threshold.value = found.alarm;
  markers.clearLayers();
  for (const berth of found.berths) {
    L.marker([berth.y, berth.x], { icon: label(berth.name, "berth", [64, 24]), bubblingMouseEvents: true, keyboard: false }).addTo(markers);
  }
  for (const buoy of buoys) {
    const marker = L.marker([buoy.y, buoy.x], { icon: label(buoy.name, `buoy ${buoy.kind}`, [76, 24]), draggable: true, title: buoy.name });
    marker.on("click", () => choose(buoy));
    marker.on("dragend", async () => {
      const { lat, lng } = marker.getLatLng();
      await keep({ ...buoy, x: Math.round(lng), y: Math.round(lat) });
    });
    marker.addTo(markers);
  }
}

function choose(buoy) {
  chosen = buoy;
  form.hidden = false;
  document.querySelector("#name").value = buoy.name;
  kinds.value = buoy.kind;
  document.querySelector("#lit").checked = Boolean(buoy.lit);
  document.querySelector("#remove").hidden = buoy.id === undefined;
}

async function keep(buoy) {
  await ask("/api/buoys", buoy.id === undefined ? "POST" : "PUT", buoy);
  told.textContent = `Kept ${buoy.name}`;
  await showBuoys();
}

map.on("click", ({ latlng }) => choose({ name: "", kind: "channel", lit: 0, x: Math.round(latlng.lng), y: Math.round(latlng.lat) }));

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  form.hidden = true;
  await keep({ ...chosen, name: document.querySelector("#name").value, kind: kinds.value, lit: Number(document.querySelector("#lit").checked) });
});

document.querySelector("#remove").addEventListener("click", async () => {
  form.hidden = true;
  await ask("/api/buoys", "DELETE", { id: chosen.id });
  told.textContent = `Removed ${chosen.name}`;
  await showBuoys();
});

document.querySelector("#alarm").addEventListener("submit", async (event) => {
  event.preventDefault();
  await ask("/api/alarm", "PUT", { centimetres: Number(threshold.value) });
  told.textContent = `Alarm above ${threshold.value} cm`;
});

function showLevels() {
  document.querySelector("#level").textContent = levels.length ? `${levels.at(-1).centimetres} cm` : "–";
  chart.setOption({
    animationDuration: 300,
    grid: { bottom: 30, left: 40, right: 10, top: 20 },
    xAxis: { data: levels.map((one) => one.at), type: "category" },
    yAxis: { type: "value" },
    series: [{ data: levels.map((one) => one.centimetres), label: { show: true }, type: "bar" }],
  });
}

await showBuoys();
showLevels();
new EventSource("/levels").addEventListener("message", ({ data }) => {
  levels.push(JSON.parse(data));
  showLevels();
});
