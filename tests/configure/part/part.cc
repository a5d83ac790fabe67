#include "tenon/tenon.h"

int main() { return tenon::Target::Host().cores > 0 ? 0 : 1; }
