/** The styles of the panels that come with the bundle; what comes later brings its own. */

import control from './control.css';
import graph from './graph.css';
import theme from './theme.css';
import time from './time.css';

export const css = [theme, time, control, graph].join('\n');
