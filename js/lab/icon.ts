import { LabIcon } from '@jupyterlab/ui-components';

// Three nodes of a graph; `jp-icon3` lets JupyterLab colour it for the theme.
const svgstr = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">
  <g class="jp-icon3" fill="#616161">
    <path d="M7.4 5.5h1.2v2.2l3.3 2.4-.7 1L8 8.8l-3.2 2.3-.7-1 3.3-2.4z"/>
    <circle cx="8" cy="3.8" r="2.1"/>
    <circle cx="3.6" cy="12" r="2.1"/>
    <circle cx="12.4" cy="12" r="2.1"/>
  </g>
</svg>`;

/** The mark of gradlab in side bars, menus and the palette: a small graph. */
export const gradlabIcon = new LabIcon({ name: 'gradlab:graph', svgstr });
