// MUI and React, which have no built files for a page, as globals of the page.
import * as MUI from "@mui/material";
import * as React from "react";
import * as ReactDOM from "react-dom/client";

Object.assign(globalThis, { MUI, React, ReactDOM });
