// Shows the page of one component in Angular: its template, compiled in the page, with every module of the kit.
import * as compiler from "@angular/compiler";
import { Component, inject } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { MatAutocompleteModule } from "@angular/material/autocomplete";
import { MatBottomSheet, MatBottomSheetModule } from "@angular/material/bottom-sheet";
import { MatButtonModule } from "@angular/material/button";
import { MatButtonToggleModule } from "@angular/material/button-toggle";
import { MatCheckboxModule } from "@angular/material/checkbox";
import { MatChipsModule } from "@angular/material/chips";
import { provideNativeDateAdapter } from "@angular/material/core";
import { MatDatepickerModule } from "@angular/material/datepicker";
import { MatDialog, MatDialogModule } from "@angular/material/dialog";
import { MatExpansionModule } from "@angular/material/expansion";
import { MatInputModule } from "@angular/material/input";
import { MatListModule } from "@angular/material/list";
import { MatMenuModule } from "@angular/material/menu";
import { MatPaginatorModule } from "@angular/material/paginator";
import { MatRadioModule } from "@angular/material/radio";
import { MatSelectModule } from "@angular/material/select";
import { MatSidenavModule } from "@angular/material/sidenav";
import { MatSlideToggleModule } from "@angular/material/slide-toggle";
import { MatSliderModule } from "@angular/material/slider";
import { MatSnackBar } from "@angular/material/snack-bar";
import { MatSortModule } from "@angular/material/sort";
import { MatStepperModule } from "@angular/material/stepper";
import { MatTabsModule } from "@angular/material/tabs";
import { MatTimepickerModule } from "@angular/material/timepicker";
import { MatTooltipModule } from "@angular/material/tooltip";
import { MatTreeModule } from "@angular/material/tree";

globalThis.compiler = compiler; // the bundle keeps what is used

const imports = [
  MatAutocompleteModule, MatBottomSheetModule, MatButtonModule, MatButtonToggleModule, MatCheckboxModule,
  MatChipsModule, MatDatepickerModule, MatDialogModule, MatExpansionModule, MatInputModule, MatListModule,
  MatMenuModule, MatPaginatorModule, MatRadioModule, MatSelectModule, MatSidenavModule, MatSlideToggleModule,
  MatSliderModule, MatSortModule, MatStepperModule, MatTabsModule, MatTimepickerModule, MatTooltipModule,
  MatTreeModule,
];
const { template, data } = JSON.parse(document.getElementById("page").textContent);

class Page {
  constructor() {
    this.dialog = inject(MatDialog);
    this.sheet = inject(MatBottomSheet);
    this.snackBar = inject(MatSnackBar);
    this.said = globalThis.said;
    this.tell = (what) => () => globalThis.said(what);
    this.childrenOf = (node) => node.children || [];
    this.hasChildren = (_, node) => Boolean(node.children);
    Object.assign(this, data);
  }
}
const shown = Component({ selector: "app-page", template, imports })(Page) || Page;
bootstrapApplication(shown, { providers: [provideNativeDateAdapter()] });
