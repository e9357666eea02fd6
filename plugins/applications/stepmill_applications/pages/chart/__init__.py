"""Buoys: a page with a map of Leaflet's and a chart of ECharts', whose server keeps the buoys and tells the water."""
