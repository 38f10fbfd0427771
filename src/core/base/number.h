/* Numbers as text that reads back to the same bits. */
#ifndef POLHODE_BASE_NUMBER_H
#define POLHODE_BASE_NUMBER_H

/* Writes a finite number with as few digits as identify it, with a decimal point whatever the
 * locale is. */
void poli_number_text(double value, char text[32]);

#endif
