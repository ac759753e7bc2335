import { BASE } from './style/base.ts';
import { DETAILS } from './style/details.ts';
import { FIGURES } from './style/figures.ts';
import { FRAME } from './style/frame.ts';
import { NARROW } from './style/narrow.ts';

/** The page's style sheet: one file, no fonts and no images. */
export const STYLE = [BASE, FRAME, FIGURES, DETAILS, NARROW].join('');
